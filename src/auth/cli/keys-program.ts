import type { Command } from 'commander';
import { commandOf, usageOf } from '../../config/package.js';
import { programOf } from '../../config/program.js';
import { clock } from '../../database/clock.js';
import type { ApiKey } from '../api-key.entity.js';
import { callerScopes, isOperator, type Scope, scopes } from '../caller.js';
import type { KeySecret } from '../key-secret.js';
import { keyState } from '../key-view.js';
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
} from '../key-rules.js';
import type { KeyChanges, NewKey } from '../keys.service.js';
import { toKeyView, toLimits, toTable } from './key-tables.js';
import { toLowerCase, toNumber, toTime, valueOf, valueOr, valuesOf } from './option-values.js';

/** The options of both `create` and `update`. */
interface LimitOptions {
  rateLimitSubmit?: string;
  rateLimitOther?: string;
  rateLimitBatch?: string;
  maxWaiting?: number | 'off';
  maxRunning?: number | 'off';
  weight?: number;
}

interface CreateOptions
  extends LimitOptions, Partial<Omit<NewKey, 'scopes' | 'models' | keyof LimitOptions>> {
  scope?: Scope[];
  model?: string[];
}

/** The operations of the command line on keys. */
export interface KeyCommands {
  create(key: NewKey): Promise<KeySecret>;
  list(): Promise<ApiKey[]>;
  /** Returns false if the key is revoked. */
  update(id: string, changes: KeyChanges): Promise<boolean>;
  /** Returns false if the key was revoked before. */
  revoke(id: string): Promise<boolean>;
  /** Returns a URL that signs in once as this key. */
  link(id: string): Promise<string>;
}

const rateLimitValue = valueOr('default', rateLimitRule);

const withLimits = (command: Command): Command =>
  command
    .option(
      '--rate-limit-submit <limits>',
      'limits such as 50/s,1000/m, or off, or default: those of the service',
      rateLimitValue,
    )
    .option('--rate-limit-other <limits>', 'the same for status, stream, response and cancel', rateLimitValue)
    .option('--rate-limit-batch <limits>', 'the same for the entries of batches', rateLimitValue)
    .option(
      '--max-waiting <count>',
      'how many of its requests may wait, or off: any number',
      valueOr('off', maxWaitingRule, toNumber),
    )
    .option(
      '--max-running <count>',
      'how many of its requests for one model may run at once, or off: any number',
      valueOr('off', maxRunningRule, toNumber),
    )
    .option(
      '--weight <weight>',
      'the weight of its turns when keys share a model (of a new key: 1)',
      valueOf(weightRule, toNumber),
    );

const keyArgument = 'the key’s id, prefix or name, as list shows them';

/** Opens the database, passes it to the work, and always closes it. */
export type WithKeys = (work: (keys: KeyCommands) => Promise<string>) => Promise<void>;

/** The command line of `npm run keys`. Each command gives `withKeys` its work, which returns what to print. */
export function keysProgram(withKeys: WithKeys): Command {
  const program = programOf(
    'keys',
    'Makes, shows, changes and revokes the API keys of this service.',
    `
The keys are in the database that DATABASE_URL names, or else in the embedded one in DATA_DIR (.data).
The commands work whether or not the service is running.

Examples:
  ${usageOf('keys')} create --name "web shop"
  ${usageOf('keys')} create --name ci --scope submit --scope read --model 'acme/*' --expires 90d
  ${usageOf('keys')} list
  ${usageOf('keys')} update ci --rate-limit-submit 50/s,1000/m --max-running 3
  ${usageOf('keys')} revoke ci
  ${usageOf('keys')} link`,
  );

  withLimits(
    program
      .command('create')
      .description('Makes a key and prints it. It cannot be shown again.')
      .usage('--name <name> [options]')
      .option('-n, --name <name>', 'the person or program that uses it (required)', valueOf(nameRule))
      .option(
        '-s, --scope <scope>',
        `one of ${scopes.join(', ')}; may be repeated (default: ${callerScopes.join(', ')})`,
        valuesOf(scopeRule, toLowerCase),
      )
      .option(
        '-m, --model <id>',
        'a model, or acme/* for all under acme; may be repeated (default: all)',
        valuesOf(modelRule),
      )
      .option(
        '--max-priority <priority>',
        'the highest priority of its requests: high, normal or low (default: high)',
        valueOf(priorityRule, toLowerCase),
      )
      .option(
        '-e, --expires <when>',
        'when it expires: after a time such as 12h or 90d, or on an ISO date',
        valueOf(expiryRule, toTime),
      ),
  ).action(({ name, ...options }: CreateOptions, command: Command) => {
    if (name === undefined) command.error('error: the key needs a name: --name <name>');
    return withKeys((keys) => create(keys, { name, ...options }));
  });

  program
    .command('list')
    .description('Lists all keys, including revoked ones, without their secrets.')
    .option('--json', 'as JSON')
    .action(({ json }: { json?: true }) =>
      withKeys(async (keys) => {
        const [list, now] = [await keys.list(), new Date(clock.now())];
        const views = list.map((key) => toKeyView(key, now));
        if (json === true) return JSON.stringify(views, null, 2);
        return list.length === 0
          ? `There are no keys yet. To make one: ${commandOf('keys', 'create --name <name>')}`
          : toTable(list, now);
      }),
    );

  withLimits(
    program
      .command('update')
      .description('Changes the given options. Running services apply them within 5 seconds.')
      .argument('<key>', keyArgument),
  ).action((text: string, options: LimitOptions, command: Command) => {
    if (Object.keys(options).length === 0)
      command.error('error: nothing to change: give at least one option, such as --weight <weight>');
    return withKeys((keys) => update(keys, text, toChanges(options)));
  });

  program
    .command('revoke')
    .description('Revokes a key for good. Running services refuse it within 5 seconds.')
    .argument('<key>', keyArgument)
    .action((text: string) => withKeys((keys) => revoke(keys, text)));

  program
    .command('link')
    .description('Prints a link that signs in to the console. It works once, within an hour.')
    .argument('[key]', `${keyArgument} (default: the oldest with the scope admin)`)
    .action((text: string | undefined) => withKeys((keys) => link(keys, text)));

  return program;
}

async function create(
  keys: KeyCommands,
  { scope, model, ...options }: CreateOptions & { name: string },
): Promise<string> {
  const secret = await keys.create({ ...toChanges(options), scopes: scope, models: model });
  return [
    secret.reveal(),
    '',
    `This is the key "${options.name}". Save it now: it is not stored and cannot be shown again.`,
    `Send it with every call:   Authorization: Key ${secret.prefix()}…`,
    `If it leaks:               ${usageOf('keys')} revoke ${secret.prefix()}`,
  ].join('\n');
}

/** Returns the options, with null in the place of the words that take a limit back. */
function toChanges<Options extends LimitOptions>(options: Options) {
  const { rateLimitSubmit, rateLimitOther, rateLimitBatch, maxWaiting, maxRunning, ...others } = options;
  return {
    ...others,
    rateLimitSubmit: nullFor('default', rateLimitSubmit),
    rateLimitOther: nullFor('default', rateLimitOther),
    rateLimitBatch: nullFor('default', rateLimitBatch),
    maxWaiting: nullFor('off', maxWaiting),
    maxRunning: nullFor('off', maxRunning),
  };
}

const nullFor = <T>(word: 'default' | 'off', value: T): Exclude<T, 'off'> | null =>
  value === word ? null : (value as Exclude<T, 'off'>);

async function update(keys: KeyCommands, text: string, changes: KeyChanges): Promise<string> {
  const key = selectKey(await keys.list(), text, new Date(clock.now()));
  const label = labelOf(key);
  if (!(await keys.update(key.id, changes)))
    throw new Error(`The key ${label} is revoked and cannot be changed.`);
  const {
    rateLimitSubmit = key.rateLimitSubmit,
    rateLimitOther = key.rateLimitOther,
    rateLimitBatch = key.rateLimitBatch,
    maxWaiting = key.maxWaiting,
    maxRunning = key.maxRunning,
    weight = key.weight,
  } = changes;
  const rateLimits = { rateLimitSubmit, rateLimitOther, rateLimitBatch };
  const said = toLimits({ ...rateLimits, maxWaiting, maxRunning, weight });
  return `Changed the key ${label}: ${said}. Running services apply it within 5 seconds.`;
}

async function revoke(keys: KeyCommands, text: string): Promise<string> {
  const key = selectKey(await keys.list(), text, new Date(clock.now()));
  const label = labelOf(key);
  if (!(await keys.revoke(key.id))) throw new Error(`The key ${label} was already revoked.`);
  return `Revoked the key ${label}. Running services refuse it within 5 seconds.`;
}

async function link(keys: KeyCommands, text: string | undefined): Promise<string> {
  const [list, now] = [await keys.list(), new Date(clock.now())];
  const isAdmin = (key: ApiKey): boolean => key.scopes.includes('admin') && keyState(key, now) === 'valid';
  const key = text === undefined ? list.find(isAdmin) : selectKey(list, text, now);
  if (key === undefined)
    throw new Error(
      `No key has the scope admin. Make one: ${commandOf('keys', 'create --name <name> --scope admin')}`,
    );
  const label = labelOf(key);
  if (keyState(key, now) !== 'valid') throw new Error(`The key ${label} is ${keyState(key, now)}.`);
  if (!isOperator(key))
    throw new Error(`The key ${label} cannot sign in: it has none of the scopes observe, payloads, admin.`);
  return [
    await keys.link(key.id),
    '',
    `The link signs in to the console as the key ${label}, once and within an hour. It replaces earlier links of the key.`,
  ].join('\n');
}

const labelOf = ({ prefix, name }: ApiKey): string => `${prefix}… "${name}"`;

/** Returns the one key that an id, a prefix or a name means. Revoked keys count only if nothing else fits. */
export function selectKey(keys: readonly ApiKey[], text: string, now: Date): ApiKey {
  const byId = keys.find(({ id }) => id === text.toLowerCase());
  if (byId !== undefined) return byId;
  const fitting = keys.filter(({ prefix, name }) => prefix === text || name === text);
  const valid = fitting.filter((key) => keyState(key, now) !== 'revoked');
  const candidates = valid.length > 0 ? valid : fitting;
  if (candidates.length === 1) return candidates[0]!;
  if (candidates.length === 0) {
    throw new Error(
      `There is no key with the id, prefix or name "${text}". To see them all: ${commandOf('keys', 'list')}`,
    );
  }
  const lines = candidates.map((key) => `  ${key.id}  ${key.prefix}  ${key.name}  (${keyState(key, now)})`);
  throw new Error(`"${text}" matches ${candidates.length} keys. Choose one by its id:\n${lines.join('\n')}`);
}
