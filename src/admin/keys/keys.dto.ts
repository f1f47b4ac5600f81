import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { priorities, type Priority, type Scope, scopes } from '../../auth/caller.js';
import { weightRule } from '../../auth/key-rules.js';
import { type KeyState, keyStates } from '../../auth/key-view.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { KeyLimitsDto } from '../../limits/dto/key-limits.dto.js';
import { flagText, oneOf } from '../../tools/rules.js';
import { Option } from '../../http/input/option.js';
import { PageQuery } from '../../http/input/page.js';
import { PageDto } from '../../http/openapi/page.dto.js';
import { KeyLimitTextsDto } from './key-changes.dto.js';
import { count, countOrNull, time, timeOrNull } from '../../http/openapi/schemas.js';

export class KeysQuery extends PageQuery {
  @Option(oneOf(keyStates), 'Only keys in this state.', 'valid')
  state: KeyState | undefined;
}

@ApiSchema({
  name: 'AdminKey',
  description: 'A key as an operator sees it. The secret itself is never stored.',
})
export class AdminKeyDto {
  @Field('The id of the key. It is no secret.', exampleId, { format: 'uuid' }) id!: string;
  @Field('The name of the key.', 'web shop') name!: string;
  @Field('The first characters of its secret.', 'ns_1a2b3c4') prefix!: string;
  @Field('The state of the key. Only a `valid` key is accepted.', 'valid', { enum: keyStates })
  state!: KeyState;
  @Field(
    'The person that the key belongs to, by OpenID Connect: issuer and subject; null: it belongs to no such ' +
      'person.',
    null,
    {
      type: String,
      nullable: true,
    },
  )
  subject!: string | null;
  @ApiProperty({
    description: 'The scopes of the key.',
    type: [String],
    enum: scopes,
    example: ['submit', 'read'],
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
  @ApiProperty({
    description: 'The rate limits of the key; null: the limits of the service.',
    type: KeyLimitTextsDto,
  })
  limits!: KeyLimitTextsDto;
  @ApiProperty({
    description: 'The quota that is left in the limits that apply, as far as this node knows.',
    type: KeyLimitsDto,
  })
  quota!: KeyLimitsDto;
  @Field('The highest priority that it may submit with.', 'high', { enum: priorities })
  max_priority!: Priority;
  @Field('The number of its requests that may wait; null: unlimited.', 1_000, { ...countOrNull, minimum: 1 })
  max_waiting!: number | null;
  @Field('The number of its requests for one model that may run at once; null: unlimited.', 3, {
    ...countOrNull,
    minimum: 1,
  })
  max_running!: number | null;
  @Field('The weight of its turns, where keys share a model.', 1, weightRule.schema)
  weight!: number;
  @Field('The number of its requests that wait. 10,000 means 10,000 or more.', 12, count)
  waiting!: number;
  @Field('The number of its requests that are running.', 3, count) running!: number;
  @Field(
    'The number of its requests since midnight UTC. Requests that other nodes accepted count after 25 s at most.',
    480,
    count,
  )
  requests_today!: number;
  @Field(
    'The number of its requests of today and the 29 days before, in UTC. It is as old as `requests_today`.',
    12_480,
    count,
  )
  requests_last_30_days!: number;
  @Field('The time at which it was made, in UTC.', '2026-03-01T12:00:00.000Z', time) created_at!: string;
  @Field('The time at which it expires, in UTC; null: never.', null, timeOrNull) expires_at!: string | null;
  @Field('The time at which it was revoked, in UTC; null: it is not revoked.', null, timeOrNull) revoked_at!:
    string | null;
  @Field('The time at which it was last used, in UTC, to the minute; null: never.', null, timeOrNull)
  last_used_at!: string | null;
}

@ApiSchema({ name: 'MadeKey', description: 'A new key with its secret.' })
export class MadeKeyDto extends AdminKeyDto {
  @ApiProperty({ description: 'The key itself. It is shown only once.', type: String, example: 'ns_…' })
  key!: string;
}

@ApiSchema({ name: 'AdminKeyPage', description: 'A page of keys, newest first.' })
export class AdminKeyPageDto extends PageDto {
  @ApiProperty({ description: 'The keys of the page.', type: [AdminKeyDto] }) data!: AdminKeyDto[];
}

/** The option of a change that could leave no key with the scope admin. */
export class LastAdminQuery {
  @Option(
    flagText,
    '`true` allows the change even if no other key has the scope `admin`. Then only the program `keys` can make one.',
  )
  allow_no_admin = false;
}
