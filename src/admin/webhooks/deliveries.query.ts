import { validate as isUuid } from 'uuid';
import { oneOf, text } from '../../http/input/values.js';
import { Option } from '../../http/input/option.js';
import { deliveryStates, type DeliveryState } from '../../webhooks/all-deliveries.js';
import { PageQuery } from '../cursor-page.js';

const hostPattern = /^[^\s/?#@]{1,260}$/;

/** The filters of a list of deliveries. */
export class DeliveriesQuery extends PageQuery {
  @Option('state', oneOf(deliveryStates), 'Only deliveries in this state.', 'failed', {
    enum: [...deliveryStates],
  })
  state: DeliveryState | undefined;

  @Option('webhook_id', uuid, 'Only deliveries to this endpoint of a key.', undefined, { format: 'uuid' })
  webhook_id: string | undefined;

  @Option('host', host, 'Only deliveries to this host, with its port if the URL has one.', 'example.org')
  host: string | undefined;

  @Option('key_id', uuid, 'Only deliveries of the requests of this key.', undefined, { format: 'uuid' })
  key_id: string | undefined;

  @Option('request_id', text, 'Only deliveries of this request: its id, or its handle.')
  request_id: string | undefined;
}

function uuid(value: unknown): string {
  const id = text(value);
  if (!isUuid(id)) throw new Error('expected an id, which is a UUID');
  return id.toLowerCase();
}

function host(value: unknown): string {
  const name = text(value);
  if (!hostPattern.test(name)) throw new Error('expected a host, such as example.org or example.org:8080');
  return name.toLowerCase();
}
