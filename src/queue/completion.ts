import { transitions, type Transition } from './request-state.js';

/** A common table expression for what must follow from a completion in the same commit, such as a row of an outbox. */
export interface CompletionHook {
  name: string;
  /** Reads from `completed`, which has at least id, attempt and the columns of `forHooks`. It has no parameters. */
  sql: string;
}

const hooks = new Map<string, string>();
let isBuilt = false;

/** Registers a hook at the start of a room, because the first completion makes the statements final. */
export function registerCompletionHook({ name, sql }: CompletionHook): void {
  if (hooks.get(name) === sql) return;
  if (isBuilt)
    throw new Error(`The completion hook ${name} is registered too late: requests have already completed.`);
  if (hooks.has(name)) throw new Error(`There is already a completion hook ${name}.`);
  hooks.set(name, sql);
}

export interface Completion {
  verb: Transition['verb'];
  /** The CTE with the `request_id` of each request and the columns that the values below use. */
  of: string;
  set: { outcome: string; completed_at: string; error?: string } & Readonly<Record<string, string>>;
  returning?: readonly string[];
  /** A condition in place of a join with `of`, for long lists: a plan made for short ones does not suit them. */
  where?: string;
  /** A column of `of`: an error to show in the request's log, or null. */
  message?: string;
}

const forHooks = ['model_id', 'api_key_id', 'outcome', 'completed_at', 'webhook_url'].map(
  (column) => `request.${column}`,
);

/**
 * Returns the common table expressions with which every statement completes requests: `completed`, the log line of
 * the end, and the hooks. They are the one guard of the final state: a request is completed only from the state that
 * the verb starts from.
 */
export const complete = (completion: Completion) => (): string => {
  const { verb, of, set, returning = [], message = '' } = completion;
  const { where = `request.id = ${of}.request_id` } = completion;
  isBuilt = true;
  const { from } = transitions.find((one) => one.verb === verb && one.to === 'COMPLETED')!;
  const assignments = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
  const returned = new Set([
    'request.id',
    'request.attempt',
    ...returning,
    ...(hooks.size > 0 ? forHooks : []),
  ]);
  if (message !== '') returned.add(`${of}.${message}`);
  const logged =
    message &&
    `, logged AS (
  INSERT INTO request_event (request_id, kind, attempt, level, source, message)
  SELECT id, 'log', attempt, 'ERROR', 'queue', ${message} FROM completed WHERE ${message} IS NOT NULL
)`;
  return `completed AS (
  UPDATE request
  SET state = 'COMPLETED', ${assignments.join(', ')}
  ${completion.where === undefined ? `FROM ${of}` : ''}
  WHERE ${where} AND request.state = '${from}'
  RETURNING ${[...returned].join(', ')}
)${logged}${[...hooks].map(([name, sql]) => `, ${name} AS (\n  ${sql}\n)`).join('')}`;
};
