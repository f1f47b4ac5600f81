import type { Priority, Scope } from '../../auth/caller.js';
import {
  expiryRule,
  maxRunningRule,
  maxWaitingRule,
  modelRule,
  nameRule,
  priorityRule,
  rateLimitRule,
  scopeRule,
  weightRule,
} from '../../auth/key-rules.js';
import type { KeyChanges, NewKey } from '../../auth/keys.service.js';
import { ReasonOption } from '../../audit/reason.js';
import { BodySchema, object } from '../../http/input/body.js';
import { Option, RequiredOption } from '../../http/input/option.js';
import { listOf, orNull } from '../../tools/rules.js';

const maxEntries = 100;
const defaultWeight = 1;
const noLimits = { submit: null, other: null, batch: null };
const unknown = 'bad_request';

const limitText = (of: string): string =>
  `The limit for ${of}, such as \`50/s,1000/m\`, or \`off\`; null: the limit of the service.`;

@BodySchema({ name: 'KeyLimitTexts', description: 'The rate limits of a key as they are set.', unknown })
export class KeyLimitTextsDto {
  @Option(orNull(rateLimitRule), limitText('submissions'), '50/s,1000/m')
  submit: string | null | undefined;
  @Option(orNull(rateLimitRule), limitText('all other calls'), null)
  other: string | null | undefined;
  @Option(orNull(rateLimitRule), limitText('the entries of batches'), null)
  batch: string | null | undefined;
}

@BodySchema({
  name: 'KeyChanges',
  description: 'A change of a key. An omitted member stays as it is; null removes what was set.',
  examples: { weight: { weight: 2, reason: 'it pays for twice as much' } },
  unknown,
})
export class KeyChangesDto {
  @Option(nameRule, 'The name of the key.', 'web shop')
  name: string | undefined;
  @Option(listOf(scopeRule, maxEntries), 'The scopes of the key.', ['submit', 'read'])
  scopes: readonly Scope[] | undefined;
  @Option(
    orNull(listOf(modelRule, maxEntries)),
    'The models that the key may call: ids, and patterns such as `acme/*` for all models below `acme/`; ' +
      'null: all models.',
    ['acme/*'],
  )
  models: readonly string[] | null | undefined;
  @Option(orNull(object(KeyLimitTextsDto)), 'The rate limits of the key; null: the limits of the service.')
  limits: KeyLimitTextsDto | null | undefined;
  @Option(orNull(priorityRule), 'The highest priority of its submissions; null: high.', 'normal')
  max_priority: Priority | null | undefined;
  @Option(orNull(maxWaitingRule), 'The number of its requests that may wait; null: unlimited.', 1_000)
  max_waiting: number | null | undefined;
  @Option(
    orNull(maxRunningRule),
    'The number of its requests for one model that may run at once; null: unlimited.',
    3,
  )
  max_running: number | null | undefined;
  @Option(orNull(weightRule), 'The weight of its turns, where keys share a model; null: 1.', 1)
  weight: number | null | undefined;
  @Option(
    orNull(expiryRule),
    'The expiry: a duration such as `90d`, or a time as in RFC 3339; null: never.',
    '90d',
  )
  expires: NewKey['expires'];
  @ReasonOption()
  reason: string | undefined;
}

@BodySchema({
  name: 'NewKey',
  description:
    'A new key. Without `scopes` it gets `submit`, `read` and `cancel`. Any other omitted member counts as null.',
  examples: { caller: { name: 'web shop', scopes: ['submit', 'read'] } },
  unknown,
})
export class NewKeyDto extends KeyChangesDto {
  @RequiredOption(nameRule, 'The name of the key.', 'web shop')
  declare name: string;
}

export function toChanges({ limits, weight, ...changes }: KeyChangesDto): KeyChanges {
  const { submit, other, batch } = (limits === null ? noLimits : limits) ?? {};
  return {
    name: changes.name,
    scopes: changes.scopes,
    models: changes.models,
    rateLimitSubmit: submit,
    rateLimitOther: other,
    rateLimitBatch: batch,
    maxPriority: changes.max_priority,
    maxWaiting: changes.max_waiting,
    maxRunning: changes.max_running,
    weight: weight === null ? defaultWeight : weight,
    expires: changes.expires,
  };
}
