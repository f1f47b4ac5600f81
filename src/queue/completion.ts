import { transitions, type Transition } from './request-state.js';

/** What must follow from a completion in the same commit, such as a row of an outbox: a common table expression. */
export interface CompletionHook {
  name: string;
  /** Reads from `completed` at least id, attempt and the columns of `forHooks`. No parameters. */
  sql: string;
}

const hooks = new Map<string, string>();
let isBuilt = false;

/** At a room's start: the first completion makes the statements final. */
export function registerCompletionHook({ name, sql }: CompletionHook): void {
  if (hooks.get(name) === sql) return;
  if (isBuilt)
    throw new Error(`The completion hook ${name} comes too late: requests were completed already.`);
  if (hooks.has(name)) throw new Error(`There is another completion hook ${name}.`);
  hooks.set(name, sql);
}

export interface Completion {
  verb: Transition['verb'];
  /** The CTE with the `request_id` of each request, and what the values below use. */
  of: string;
  set: { outcome: string; completed_at: string; error?: string } & Readonly<Record<string, string>>;
  returning?: readonly string[];
  /** In place of a join with `of`: for lists so long that a plan made for short ones is none for them. */
  where?: string;
  /** A column of `of`: an error to show among the request's logs, or null. */
  message?: string;
}

const forHooks = ['model_id', 'api_key_id', 'outcome', 'completed_at', 'webhook_url'].map(
  (column) => `request.${column}`,
);

/**
 * The common table expressions with which every statement completes requests: `completed`, what its log says of the
 * end, and the hooks. The one guard for everything terminal: only a request in the state that the verb starts from is
 * completed.
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
