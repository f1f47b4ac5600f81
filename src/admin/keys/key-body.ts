import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import {
  isKeyName,
  isModelPattern,
  priorities,
  type Priority,
  type Scope,
  scopes,
} from '../../auth/caller.js';
import type { KeyChanges, NewKey } from '../../auth/keys.service.js';
import { parseDuration, parseRateLimits } from '../../config/parsers.js';
import { DomainError } from '../../errors/domain-error.js';
import { validated } from '../../http/input/validated.js';
import { oneOf, text, time } from '../../http/input/values.js';
import { assertKnown, Option } from '../../http/input/option.js';
import { isObject, parseObjectBody } from '../../http/input/json-body.js';
import { ruledProperties } from '../../tools/validation.js';
import { parseReason } from '../requests/reason-bodies.js';

const maxEntries = 100;
const maxCount = 999_999;
const defaultWeight = 1;

const limitText = (of: string) => ({
  description: `The limit for ${of}, such as \`50/s,1000/m\`, or \`off\`; null: the limit of the service.`,
  type: String,
  nullable: true,
});

@ApiSchema({ name: 'KeyLimitTexts', description: 'The rate limits of a key as they are set.' })
export class KeyLimitTextsDto {
  @ApiPropertyOptional({ ...limitText('submissions'), example: '50/s,1000/m' })
  submit?: string | null;
  @ApiPropertyOptional({ ...limitText('all other calls'), example: null })
  other?: string | null;
  @ApiPropertyOptional({ ...limitText('the entries of batches'), example: null })
  batch?: string | null;
}

const countOption = { type: 'integer', minimum: 1, maximum: maxCount, nullable: true } as const;

@ApiSchema({
  name: 'KeyChanges',
  description: 'A change of a key. An omitted member stays as it is; null removes what was set.',
})
export class KeyChangesDto {
  @Option('name', name, 'The name of the key.', 'web shop')
  name: string | undefined;

  @Option('scopes', list(oneOf(scopes)), 'The scopes of the key.', ['submit', 'read'], {
    type: [String],
    enum: scopes,
  })
  scopes: Scope[] | undefined;

  @Option(
    'models',
    orNull(list(model)),
    'The models that the key may call: ids, and patterns such as `acme/*` for all models below `acme/`; ' +
      'null: all models.',
    ['acme/*'],
    { type: [String], nullable: true },
  )
  models: string[] | null | undefined;

  @Option('limits', limits, 'The rate limits of the key; null: the limits of the service.', undefined, {
    type: KeyLimitTextsDto,
    nullable: true,
  })
  limits: KeyLimitTextsDto | undefined;

  @Option(
    'max_priority',
    orNull(oneOf(priorities)),
    'The highest priority of its submissions; null: high.',
    'normal',
    {
      enum: priorities,
      nullable: true,
    },
  )
  max_priority: Priority | null | undefined;

  @Option(
    'max_waiting',
    orNull(count),
    'The number of its requests that may wait; null: unlimited.',
    1_000,
    countOption,
  )
  max_waiting: number | null | undefined;

  @Option(
    'max_running',
    orNull(count),
    'The number of its requests for one model that may run at once; null: unlimited.',
    3,
    countOption,
  )
  max_running: number | null | undefined;

  @Option('weight', weight, 'The weight of its turns, where keys share a model; null: 1.', 1, {
    type: Number,
    minimum: 0.01,
    maximum: 1_000,
    nullable: true,
  })
  weight: number | undefined;

  @Option(
    'expires',
    orNull(expiry),
    'The expiry: a duration such as `90d`, or a time as in RFC 3339; null: never.',
    '90d',
    { nullable: true },
  )
  expires: NewKey['expires'];

  @Option('reason', orNull(parseReason), 'The reason, for the audit.', 'asked for by its owner', {
    maxLength: 500,
    nullable: true,
  })
  reason: string | null | undefined;
}

@ApiSchema({
  name: 'NewKey',
  description:
    'A new key. Without `scopes` it gets `submit`, `read` and `cancel`. Any other omitted member counts as null.',
})
export class NewKeyDto extends KeyChangesDto {
  @ApiProperty({ description: 'The name of the key.', example: 'web shop', type: String })
  declare name: string | undefined;
}

const example = '{"name": "web shop", "scopes": ["submit", "read"]}';

export function newKeyOf(body: Buffer): { newKey: NewKey; reason: string | undefined } {
  const { changes, reason } = changesOf(body);
  const { name: given, ...others } = changes;
  if (given !== undefined) return { newKey: { name: given, ...others }, reason };
  throw new DomainError('bad_request', `The key needs a name: ${example}.`);
}

/** A null in the body takes back what was set. */
export function changesOf(body: Buffer): { changes: KeyChanges; reason: string | undefined } {
  const { value } = parseObjectBody(body, { example });
  const { limits: texts = {}, max_priority, max_waiting, max_running, reason, ...others } = checked(value);
  const { expires } = others;
  if (expires && 'at' in expires && expires.at.getTime() <= Date.now())
    throw new DomainError('bad_request', 'The option "expires": expected a time in the future.');
  const changes = {
    ...others,
    rateLimitSubmit: texts.submit,
    rateLimitOther: texts.other,
    rateLimitBatch: texts.batch,
    maxPriority: max_priority,
    maxWaiting: max_waiting,
    maxRunning: max_running,
  };
  return { changes, reason: reason || undefined };
}

/** Checks options as in a query, but of a body. */
function checked(value: object): Readonly<KeyChangesDto> {
  try {
    assertKnown(Object.entries(value), ruledProperties(KeyChangesDto));
    return validated(KeyChangesDto, value);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'invalid_query')
      throw new DomainError('bad_request', error.message);
    throw error;
  }
}

type Parse<T> = (value: unknown) => T;

function orNull<T>(parse: Parse<T>): Parse<T | null> {
  return (value) => (value === null ? null : parse(value));
}

function list<T>(parse: Parse<T>): Parse<T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > maxEntries)
      throw new Error(`expected a list of 1 to ${maxEntries} entries`);
    return value.map(parse);
  };
}

function name(value: unknown): string {
  const given = text(value).trim();
  if (!isKeyName(given)) throw new Error('expected 1 to 100 printable characters');
  return given;
}

function model(value: unknown): string {
  const pattern = text(value);
  if (!isModelPattern(pattern))
    throw new Error('expected ids such as acme/image/upscale, or patterns such as acme/*');
  return pattern;
}

function limits(value: unknown): KeyLimitTextsDto {
  if (value === null) return { submit: null, other: null, batch: null };
  if (!isObject(value)) throw new Error('expected an object such as {"submit": "50/s,1000/m"}');
  assertKnown(Object.entries(value), ['submit', 'other', 'batch']);
  return Object.fromEntries(Object.entries(value).map(([kind, limit]) => [kind, orNull(limitOf)(limit)]));
}

function limitOf(value: unknown): string {
  const limit = text(value).trim().toLowerCase();
  parseRateLimits(limit);
  return limit;
}

function count(value: unknown): number {
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxCount) return Number(value);
  throw new Error(`expected a whole number from 1 to ${maxCount}`);
}

function weight(value: unknown): number {
  if (value === null) return defaultWeight;
  if (typeof value === 'number' && value >= 0.01 && value <= 1_000) return value;
  throw new Error('expected a number from 0.01 to 1000');
}

function expiry(value: unknown): { inMs: number } | { at: Date } {
  const given = text(value);
  if (/^\d{4}-/.test(given)) return { at: new Date(time(given)) };
  const inMs = parseDuration(given);
  if (inMs < 1) throw new Error('expected a time in the future');
  return { inMs };
}
