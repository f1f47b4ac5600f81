import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { exampleDeliveryId, WebhookTryDto } from '../../webhooks/dto/deliveries.dto.js';
import { KeyNameDto } from '../requests/dto.js';

const time = { format: 'date-time' };
const timeOrNull = { type: String, ...time, nullable: true } as const;
const textOrNull = { type: String, nullable: true } as const;
const count = { type: 'integer', minimum: 0 } as const;
const at = '2026-03-01T12:00:00.000Z';
const cursorText = 'The `cursor` of the next page; null: this is the last one.';
const handle = 'rh_Zm9vYmFyYmF6cXV4LTAxMg';

@ApiSchema({
  name: 'AnyDelivery',
  description:
    'What one receiver is sent of one request of any key. Without the scope `payloads` there are handles in place of ' +
    'ids, no queries of URLs, and nothing that the receiver answered but its status.',
})
export class AnyDeliveryDto {
  @Field('Its name for `/v1/admin/deliveries`.', `${handle}.${exampleDeliveryId}`)
  id!: string;
  @Field('What each try sends as `webhook-id`.', exampleDeliveryId, { format: 'uuid' })
  message_id!: string;
  @Field('The id of the request, or a handle in its place.', handle)
  request_id!: string;
  @Field('The model of the request; null: it is gone.', 'demo/image/fractal', textOrNull)
  model_id!: string | null;
  @ApiProperty({ description: 'Whose request it is.', type: KeyNameDto })
  key!: KeyNameDto;
  @Field('The endpoint of the key; null: the request itself named the URL.', null, {
    ...textOrNull,
    format: 'uuid',
  })
  webhook_id!: string | null;
  @Field('Where it goes.', 'https://example.org/hook')
  url!: string;
  @Field('As in the list of its request.', 'failed', { enum: ['pending', 'delivered', 'failed', 'ended'] })
  state!: string;
  @ApiProperty({ description: 'Oldest first; the last hundred.', type: [WebhookTryDto] })
  tries!: WebhookTryDto[];
  @Field('While it is pending: when it is tried next.', null, timeOrNull)
  next_try_at!: string | null;
  @Field('When it was made, with the completion.', at, time)
  created_at!: string;
}

@ApiSchema({ name: 'AnyDeliveryPage', description: 'A page of deliveries.' })
export class AnyDeliveryPageDto {
  @ApiProperty({
    description:
      'Those of the newest requests first. There may be fewer than asked for, also none, where `next_cursor` is no null.',
    type: [AnyDeliveryDto],
  })
  data!: AnyDeliveryDto[];
  @Field(cursorText, null, textOrNull)
  next_cursor!: string | null;
}

@ApiSchema({
  name: 'Receiver',
  description: 'Where webhooks go: an endpoint of a key, or a host of URLs that requests named.',
})
export class ReceiverDto {
  @Field('The id of the endpoint; null: a host of URLs that requests named.', exampleId, {
    ...textOrNull,
    format: 'uuid',
  })
  id!: string | null;
  @Field('The URL of the endpoint; null for such a host.', 'https://example.org/hook', textOrNull)
  url!: string | null;
  @Field('The host, with its port if the URL has one; empty for URLs of an unusual form.', 'example.org')
  host!: string;
  @ApiProperty({
    description: 'Whose endpoint it is; null for such a host.',
    allOf: [{ $ref: '#/components/schemas/KeyName' }],
    nullable: true,
  })
  key!: KeyNameDto | null;
  @Field('Since when it is sent nothing new: an operator said so, or it answered 410.', null, timeOrNull)
  disabled_at!: string | null;
  @Field('What is still to be delivered.', 3, count)
  pending!: number;
  @Field('false: so many at least.', true)
  is_pending_exact!: boolean;
  @Field('What arrived in the last 24 hours.', 1_204, count)
  delivered_last_day!: number;
  @Field('What was given up in that time: no tries were left, or it answered 410.', 0, count)
  failed_last_day!: number;
  @Field('The tries that failed in that time.', 7, count)
  failed_tries_last_day!: number;
  @Field('The status of its last answer; null: none came, or it was not called for a week.', 503, {
    type: 'integer',
    nullable: true,
  })
  last_status!: number | null;
  @Field('Why no answer came to the last try.', null, textOrNull)
  last_error!: string | null;
  @Field('When the last try was.', at, timeOrNull)
  last_at!: string | null;
  @Field('When the next try is due; null: nothing is pending.', null, timeOrNull)
  next_try_at!: string | null;
}

@ApiSchema({ name: 'ReceiverPage', description: 'A page of receivers.' })
export class ReceiverPageDto {
  @ApiProperty({
    description: 'The endpoints of keys, newest first, and then the hosts that requests named, by name.',
    type: [ReceiverDto],
  })
  data!: ReceiverDto[];
  @Field(cursorText, null, textOrNull)
  next_cursor!: string | null;
}

@ApiSchema({ name: 'ChangeEndpoint', description: 'Whether an endpoint is sent anything new.' })
export class ChangeEndpointDto {
  @Field('true: completions from now on are not sent there.', true)
  disabled!: boolean;
  @ApiPropertyOptional({ description: 'Why, for the audit.', maxLength: 500, nullable: true, type: String })
  reason?: string | null;
}
