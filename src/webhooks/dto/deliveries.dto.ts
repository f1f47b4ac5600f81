import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { timeOrNull } from '../../http/openapi/schemas.js';

/** No enum, because clients of this release must take events of later ones. */
export const eventText = 'The type of the event. A later release may have more types.';
export const exampleDeliveryId = '7d1b5a0e-2c64-4a8e-9f35-0b6c1d2e3f40';

@ApiSchema({ name: 'WebhookTry', description: 'One call of the receiver.' })
export class WebhookTryDto {
  @Field('The time of the call, in UTC with milliseconds.', '2026-03-01T12:00:02.501Z', {
    format: 'date-time',
  })
  at!: string;
  @Field('The HTTP status of the answer; null: there was none.', 200, { type: 'integer', nullable: true })
  status!: number | null;
  @Field('The duration of the call in milliseconds.', 84, { type: 'integer', minimum: 0 })
  duration_ms!: number;
  @Field('The first KiB of the answer; null: there was no answer, or the request was erased.', 'ok', {
    type: String,
    nullable: true,
  })
  body!: string | null;
  @Field('The reason for which there was no answer.', null, { type: String, nullable: true })
  error!: string | null;
}

@ApiSchema({
  name: 'WebhookDelivery',
  description: 'The notification of one receiver about one event of a request.',
})
export class DeliveryDto {
  @Field('The id of the delivery. Each try sends it as `webhook-id`.', exampleDeliveryId, { format: 'uuid' })
  id!: string;
  @Field(eventText, 'request.completed')
  event!: string;
  @Field('The URL of the receiver.', 'https://example.org/hook', { format: 'uri' })
  url!: string;
  @Field(
    '`pending`: it is tried, or will be tried again. `delivered`: the receiver accepted it. `failed`: no ' +
      'tries are left. `ended`: the receiver answered 410, or the request was deleted.',
    'delivered',
    { enum: ['pending', 'delivered', 'failed', 'ended'] },
  )
  state!: string;
  @Field(
    'The time of the next try; null: the delivery is not pending. While a try is in progress, the time at which ' +
      'another node may try.',
    null,
    timeOrNull,
  )
  next_try_at!: string | null;
  @ApiProperty({ description: 'The last 100 tries, oldest first.', type: [WebhookTryDto] })
  tries!: WebhookTryDto[];
}

@ApiSchema({ name: 'WebhookDeliveries', description: 'The webhooks of a request.' })
export class DeliveriesDto {
  @ApiProperty({
    description: 'The deliveries, oldest first. Most are made when the request completes.',
    type: [DeliveryDto],
  })
  data!: DeliveryDto[];
}
