import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ReasonOption } from '../../audit/reason.js';
import { BodySchema } from '../../http/input/body.js';
import { Option, RequiredOption } from '../../http/input/option.js';
import { flag, oneOf, rule, text, uuid } from '../../tools/rules.js';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { eventText, exampleDeliveryId, WebhookTryDto } from '../../webhooks/dto/deliveries.dto.js';
import { KeyNameDto } from '../keys/key-name.dto.js';
import { count, exampleTime, textOrNull, time, timeOrNull } from '../../http/openapi/schemas.js';
import { PageQuery } from '../../http/input/page.js';
import { deliveryStates, type DeliveryState } from '../../webhooks/operator-deliveries.js';

const handle = 'rh_Zm9vYmFyYmF6cXV4LTAxMg';

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

@ApiSchema({
  name: 'AnyDelivery',
  description:
    'The notification of one receiver about one event of a request of any key. Without the scope `payloads` it has ' +
    'handles in place of ids and no queries of URLs. Of the receiver’s answer it then has only the status.',
})
export class AnyDeliveryDto {
  @Field('The name of the delivery in `/v1/admin/deliveries`.', `${handle}.${exampleDeliveryId}`)
  id!: string;
  @Field('The `webhook-id` that each try sends.', exampleDeliveryId, { format: 'uuid' })
  message_id!: string;
  @Field('The id of the request, or its handle without the scope `payloads`.', handle)
  request_id!: string;
  @Field('The model of the request; null: the request was deleted.', 'demo/image/fractal', textOrNull)
  model_id!: string | null;
  @ApiProperty({ description: 'The key that submitted the request.', type: KeyNameDto })
  key!: KeyNameDto;
  @Field('The endpoint of the key; null: the request itself named the URL.', null, {
    ...textOrNull,
    format: 'uuid',
  })
  webhook_id!: string | null;
  @Field(eventText, 'request.completed')
  event!: string;
  @Field('The URL of the receiver.', 'https://example.org/hook')
  url!: string;
  @Field('The state of the delivery, as in the list of its request.', 'failed', {
    enum: ['pending', 'delivered', 'failed', 'ended'],
  })
  state!: string;
  @ApiProperty({ description: 'The last 100 tries, oldest first.', type: [WebhookTryDto] })
  tries!: WebhookTryDto[];
  @Field('The time of the next try; null: the delivery is not pending.', null, timeOrNull)
  next_try_at!: string | null;
  @Field('The time of the event, at which the delivery was made.', exampleTime, time)
  created_at!: string;
}

@ApiSchema({ name: 'AnyDeliveryPage', description: 'A page of deliveries.' })
export class AnyDeliveryPageDto extends PageDto {
  @ApiProperty({
    description:
      'The deliveries, those of the newest requests first. A page may be short or empty although `next_cursor` ' +
      'is not null.',
    type: [AnyDeliveryDto],
  })
  data!: AnyDeliveryDto[];
}

@ApiSchema({
  name: 'Receiver',
  description: 'A receiver of webhooks: an endpoint of a key, or a host of URLs that requests named.',
})
export class ReceiverDto {
  @Field('The id of the endpoint; null: the receiver is a host.', exampleId, {
    ...textOrNull,
    format: 'uuid',
  })
  id!: string | null;
  @Field('The URL of the endpoint; null: the receiver is a host.', 'https://example.org/hook', textOrNull)
  url!: string | null;
  @Field(
    'The host, with its port if the URL has one. Empty if the host cannot be read from the URL.',
    'example.org',
  )
  host!: string;
  @ApiProperty({
    description: 'The key of the endpoint; null: the receiver is a host.',
    allOf: [{ $ref: '#/components/schemas/KeyName' }],
    nullable: true,
  })
  key!: KeyNameDto | null;
  @ApiProperty({
    description: 'The events that the endpoint gets; null: the receiver is a host.',
    type: [String],
    nullable: true,
    example: ['request.completed'],
  })
  events!: readonly string[] | null;
  @Field(
    'The time since which it gets no new deliveries, because an operator disabled it or it answered 410.',
    null,
    timeOrNull,
  )
  disabled_at!: string | null;
  @Field('The number of pending deliveries.', 3, count)
  pending!: number;
  @Field('false: there are at least this many.', true)
  is_pending_exact!: boolean;
  @Field('The number of deliveries that succeeded in the last 24 hours.', 1_204, count)
  delivered_last_day!: number;
  @Field(
    'The number of deliveries given up in the last 24 hours: no tries were left, or the receiver answered 410.',
    0,
    count,
  )
  failed_last_day!: number;
  @Field('The number of tries that failed in the last 24 hours.', 7, count)
  failed_tries_last_day!: number;
  @Field(
    'The status of its last answer; null: the last try got no answer, or there was no try for a week.',
    503,
    {
      type: 'integer',
      nullable: true,
    },
  )
  last_status!: number | null;
  @Field('The reason for which the last try got no answer.', null, textOrNull)
  last_error!: string | null;
  @Field('The time of the last try.', exampleTime, timeOrNull)
  last_at!: string | null;
  @Field('The time of the next try; null: nothing is pending.', null, timeOrNull)
  next_try_at!: string | null;
}

@ApiSchema({ name: 'ReceiverPage', description: 'A page of receivers.' })
export class ReceiverPageDto extends PageDto {
  @ApiProperty({
    description: 'The endpoints of keys, newest first, then the hosts that requests named, by name.',
    type: [ReceiverDto],
  })
  data!: ReceiverDto[];
}

@BodySchema({
  name: 'ChangeEndpoint',
  description: 'Disables or enables an endpoint.',
  examples: { disable: { disabled: true, reason: 'it is down for good' } },
})
export class ChangeEndpointDto {
  @RequiredOption(flag, 'true: requests that complete from now on are not sent to it.', true)
  disabled!: boolean;
  @ReasonOption()
  reason: string | undefined;
}
