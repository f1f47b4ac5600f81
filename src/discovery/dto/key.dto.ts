import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { priorities, type Priority, type Scope, scopes } from '../../auth/caller.js';
import { exampleId } from '../../http/openapi/responses.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { KeyAllowancesDto } from './key-allowances.dto.js';
import { KeyLimitsDto } from '../../limits/dto/key-limits.dto.js';

@ApiSchema({ name: 'Key', description: 'What the API key may do that the call was made with.' })
export class KeyDto {
  @Field('Its id, which is no secret.', exampleId, { format: 'uuid' })
  id!: string;
  @Field('Its name, as the operator gave it.', 'web shop')
  name!: string;
  @ApiProperty({
    description:
      '`submit` sends requests; `read` is status, stream, response, models; `cancel` cancels; `work` runs requests of ' +
      'its models.',
    type: [String],
    enum: scopes,
    example: scopes,
  })
  scopes!: readonly Scope[];
  @ApiProperty({
    description: 'Ids of models, and `acme/*` for all below `acme/`; null: all models.',
    type: [String],
    nullable: true,
    example: ['acme/*'],
  })
  models!: readonly string[] | null;
  @ApiProperty({ description: 'Its rate limits.', type: KeyLimitsDto })
  limits!: KeyLimitsDto;
  @ApiProperty({ description: 'What it holds now.', type: KeyAllowancesDto })
  allowances!: KeyAllowancesDto;
  @Field('The highest priority that it may submit with.', 'high', { enum: priorities })
  max_priority!: Priority;
  @Field('How many of its requests may wait; null: any number.', 1_000, {
    type: 'integer',
    minimum: 1,
    nullable: true,
  })
  max_waiting!: number | null;
  @Field('How many of its requests for one model run at once; null: any number.', 3, {
    type: 'integer',
    minimum: 1,
    nullable: true,
  })
  max_running!: number | null;
  @Field('The weight of its turns, where keys share a model.', 1, { minimum: 0.01, maximum: 1_000 })
  weight!: number;
  @Field('When it expires, in UTC; null: never.', '2030-12-31T00:00:00.000Z', {
    type: String,
    format: 'date-time',
    nullable: true,
  })
  expires_at!: string | null;
  @ApiPropertyOptional({
    description:
      'With the scope `submit`: what its webhooks are signed with, as Standard Webhooks has it. While it is rotated, ' +
      'the new one.',
    type: String,
    example: 'whsec_bm90IGEgc2VjcmV0LCBqdXN0IGFuIGV4YW1wbGUhISE=',
  })
  webhook_secret?: string;
}
