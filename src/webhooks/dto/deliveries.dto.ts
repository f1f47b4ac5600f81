import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';

export const exampleDeliveryId = '7d1b5a0e-2c64-4a8e-9f35-0b6c1d2e3f40';

@ApiSchema({ name: 'WebhookTry', description: 'One call of the receiver.' })
export class WebhookTryDto {
  @Field('When, in UTC with milliseconds.', '2026-03-01T12:00:02.501Z', { format: 'date-time' })
  at!: string;
  @Field('The HTTP status of the answer; null: there was none.', 200, { type: 'integer', nullable: true })
  status!: number | null;
  @Field('How long it took.', 84, { type: 'integer', minimum: 0 })
  duration_ms!: number;
  @Field('The first KiB of the answer; null: there was none, or the request was erased.', 'ok', {
    type: String,
    nullable: true,
  })
  body!: string | null;
  @Field('Why there was no answer.', null, { type: String, nullable: true })
  error!: string | null;
}

@ApiSchema({
  name: 'WebhookDelivery',
  description: 'What one receiver is sent of the completion of a request.',
})
export class DeliveryDto {
  @Field('Its id, which each try sends as `webhook-id`.', exampleDeliveryId, { format: 'uuid' })
  id!: string;
  @Field('Where it goes.', 'https://example.org/hook', { format: 'uri' })
  url!: string;
  @Field(
    '`pending`: it is tried, or will be again; `delivered`; `failed`: all tries are used up; `ended`: the receiver ' +
      'answered 410, or the request was gone.',
    'delivered',
    { enum: ['pending', 'delivered', 'failed', 'ended'] },
  )
  state!: string;
  @ApiProperty({ description: 'Oldest first; the last hundred.', type: [WebhookTryDto] })
  tries!: WebhookTryDto[];
}

@ApiSchema({ name: 'WebhookDeliveries', description: 'The webhooks of a request.' })
export class DeliveriesDto {
  @ApiProperty({ description: 'Oldest first; empty until the request has completed.', type: [DeliveryDto] })
  data!: DeliveryDto[];
}
