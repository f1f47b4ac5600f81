import { Option } from '../../http/input/option.js';
import { PageQuery } from '../../http/input/page.js';
import { oneOf, rule, text, uuid } from '../../http/input/rules.js';
import { deliveryStates, type DeliveryState } from '../../webhooks/all-deliveries.js';

const hostName = rule(text.schema, (value) => {
  const name = text.read(value);
  if (!/^[^\s/?#@]{1,260}$/.test(name))
    throw new Error('expected a host, such as example.org or example.org:8080');
  return name.toLowerCase();
});

/** The filters of a list of deliveries. */
export class DeliveriesQuery extends PageQuery {
  @Option(oneOf(deliveryStates), 'Only deliveries in this state.', 'failed')
  state: DeliveryState | undefined;
  @Option(uuid, 'Only deliveries to this endpoint of a key.')
  webhook_id: string | undefined;
  @Option(hostName, 'Only deliveries to this host, with its port if the URL has one.', 'example.org')
  host: string | undefined;
  @Option(uuid, 'Only deliveries of the requests of this key.')
  key_id: string | undefined;
  @Option(text, 'Only deliveries of this request: its id, or its handle.')
  request_id: string | undefined;
}
