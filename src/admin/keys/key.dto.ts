import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { priorities, type Priority, type Scope, scopes } from '../../auth/caller.js';
import { type KeyState, keyStates } from '../../auth/key-view.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { KeyLimitsDto } from '../../limits/dto/key-limits.dto.js';
import { oneOf } from '../../requests/dto/list.query.js';
import { Option } from '../../requests/dto/submit.query.js';
import { PageQuery } from '../cursor-page.js';
import { KeyLimitTextsDto } from './key-body.js';

const count = { type: 'integer', minimum: 0 } as const;
const maybeCount = { ...count, minimum: 1, nullable: true } as const;
const time = { type: String, format: 'date-time' } as const;
const maybeTime = { ...time, nullable: true } as const;

export class KeysQuery extends PageQuery {
  @Option('state', oneOf(keyStates), 'Only keys in this state.', 'valid', { enum: keyStates })
  state: KeyState | undefined;
}

@ApiSchema({ name: 'AdminKey', description: 'A key as an operator sees it. Its secret is kept nowhere.' })
export class AdminKeyDto {
  @Field('Its id, which is no secret.', exampleId, { format: 'uuid' }) id!: string;
  @Field('What it is called.', 'web shop') name!: string;
  @Field('The first characters of its secret.', 'ns_1a2b3c4') prefix!: string;
  @Field('Whether it is taken.', 'valid', { enum: keyStates }) state!: KeyState;
  @Field('Whose it is, where somebody signs in by OpenID Connect: issuer and subject; else null.', null, {
    type: String,
    nullable: true,
  })
  subject!: string | null;
  @ApiProperty({ description: 'What it may.', type: [String], enum: scopes, example: ['submit', 'read'] })
  scopes!: readonly Scope[];
  @ApiProperty({
    description: 'Ids of models, and `acme/*` for all below `acme/`; null: all.',
    type: [String],
    nullable: true,
    example: ['acme/*'],
  })
  models!: readonly string[] | null;
  @ApiProperty({ description: 'Its rate limits; null: those of the service.', type: KeyLimitTextsDto })
  limits!: KeyLimitTextsDto;
  @ApiProperty({
    description: 'What is left of those that hold, as far as this node knows.',
    type: KeyLimitsDto,
  })
  quota!: KeyLimitsDto;
  @Field('The highest priority that it may submit with.', 'high', { enum: priorities })
  max_priority!: Priority;
  @Field('How many of its requests may wait; null: any number.', 1_000, maybeCount)
  max_waiting!: number | null;
  @Field('How many of its requests for one model run at once; null: any number.', 3, maybeCount)
  max_running!: number | null;
  @Field('The weight of its turns, where keys share a model.', 1, { minimum: 0.01, maximum: 1_000 })
  weight!: number;
  @Field('Its requests that wait, of those that were counted: 10,000 stands for so many or more.', 12, count)
  waiting!: number;
  @Field('Its requests that run.', 3, count) running!: number;
  @Field('Its requests since midnight in UTC, up to 2 s old.', 480, count)
  requests_today!: number;
  @Field('Its requests of today and of the 29 days before, in UTC.', 12_480, count)
  requests_last_30_days!: number;
  @Field('When it was made, in UTC.', '2026-03-01T12:00:00.000Z', time) created_at!: string;
  @Field('When it expires, in UTC; null: never.', null, maybeTime) expires_at!: string | null;
  @Field('When it was revoked, in UTC; null: it was not.', null, maybeTime) revoked_at!: string | null;
  @Field('When it was last used, in UTC, to a minute; null: never.', null, maybeTime)
  last_used_at!: string | null;
}

@ApiSchema({ name: 'MadeKey', description: 'A key that was just made.' })
export class MadeKeyDto extends AdminKeyDto {
  @ApiProperty({ description: 'The key itself. It cannot be shown again.', type: String, example: 'ns_…' })
  key!: string;
}

@ApiSchema({ name: 'WebhookSecrets', description: 'With what the webhooks of a key are signed.' })
export class WebhookSecretsDto {
  @ApiProperty({
    description: 'Those that count now, the newest first: two for a day after one was rotated.',
    type: [String],
    example: ['whsec_…'],
  })
  secrets!: string[];
}

@ApiSchema({ name: 'AdminKeyPage', description: 'Keys, the newest first.' })
export class AdminKeyPageDto {
  @ApiProperty({ description: 'The keys.', type: [AdminKeyDto] }) data!: AdminKeyDto[];
  @Field('The `cursor` of the next page; null: this is the last.', null, { type: String, nullable: true })
  next_cursor!: string | null;
}

/** The option of a change that could leave no key with the scope admin. */
export class LastAdminQuery {
  @ApiPropertyOptional({
    description: '`true`: also where no other key has the scope `admin` then; only `npm run keys` helps out.',
    type: String,
    enum: ['true'],
  })
  allow_no_admin?: string;
}
