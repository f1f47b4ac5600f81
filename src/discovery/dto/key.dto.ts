import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { priorities, type Priority, type Scope, scopes } from '../../auth/caller.js';
import { weightRule } from '../../auth/key-rules.js';
import { exampleId } from '../../http/openapi/responses.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { KeyLimitsDto } from '../../limits/dto/key-limits.dto.js';
import { KeyAllowancesDto } from './key-allowances.dto.js';

@ApiSchema({ name: 'Key', description: 'The rights and limits of the API key of the call.' })
export class KeyDto {
  @Field('The id of the key. It is no secret.', exampleId, { format: 'uuid' })
  id!: string;
  @Field('The name that the operator gave the key.', 'web shop')
  name!: string;
  @ApiProperty({
    description:
      '`submit` allows submissions; `read` allows statuses, streams, responses and models; `cancel` allows ' +
      'cancelling; `work` allows running requests of the key’s models.',
    type: [String],
    enum: scopes,
    example: scopes,
  })
  scopes!: readonly Scope[];
  @ApiProperty({
    description:
      'The models that the key may call: ids, and patterns such as `acme/*` for all models below `acme/`; ' +
      'null: all models.',
    type: [String],
    nullable: true,
    example: ['acme/*'],
  })
  models!: readonly string[] | null;
  @ApiProperty({ description: 'The rate limits of the key.', type: KeyLimitsDto })
  limits!: KeyLimitsDto;
  @ApiProperty({ description: 'The resources that the key holds, and their maxima.', type: KeyAllowancesDto })
  allowances!: KeyAllowancesDto;
  @Field('The highest priority that it may submit with.', 'high', { enum: priorities })
  max_priority!: Priority;
  @Field('The number of its requests that may wait; null: unlimited.', 1_000, {
    type: 'integer',
    minimum: 1,
    nullable: true,
  })
  max_waiting!: number | null;
  @Field('The number of its requests for one model that may run at once; null: unlimited.', 3, {
    type: 'integer',
    minimum: 1,
    nullable: true,
  })
  max_running!: number | null;
  @Field('The weight of its turns, where keys share a model.', 1, weightRule.schema)
  weight!: number;
  @Field('The time at which it expires, in UTC; null: never.', '2030-12-31T00:00:00.000Z', {
    type: String,
    format: 'date-time',
    nullable: true,
  })
  expires_at!: string | null;
  @ApiPropertyOptional({
    description:
      'The secret with which the webhooks of the key are signed, as in Standard Webhooks. During a rotation it ' +
      'is the new secret. Present only with the scope `submit`.',
    type: String,
    example: 'whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGUhISE=',
  })
  webhook_secret?: string;
}
