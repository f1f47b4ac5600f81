import { transitions, type Transition } from '../request-state.js';
import { hookTexts, isHooked } from '../transition-hooks.js';

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

/**
 * Returns the common table expressions with which every statement completes requests: `completed`, the log line of the
 * end, and the hooks. They are the only guard of the final state: a request is completed only from the state that the
 * verb starts from.
 */
export const complete = (completion: Completion) => (): string => {
  const { verb, of, set, returning = [], message = '' } = completion;
  const { where = `request.id = ${of}.request_id` } = completion;
  const { from } = transitions.find((one) => one.verb === verb && one.to === 'COMPLETED')!;
  const assignments = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
  const forHooks = isHooked('request.completed') ? ['request.api_key_id', 'request.webhook_url'] : [];
  const returned = new Set(['request.id', 'request.attempt', ...returning, ...forHooks]);
  if (message !== '') returned.add(`${of}.${message}`);
  const logged =
    message &&
    `, logged AS (
  INSERT INTO request_event (request_id, kind, attempt, level, source, message)
  SELECT id, 'log', attempt, 'ERROR', 'queue', ${message} FROM completed WHERE ${message} IS NOT NULL
)`;
  return `completed AS (
  UPDATE recent_request AS request
  SET state = 'COMPLETED', ${assignments.join(', ')}
  ${completion.where === undefined ? `FROM ${of}` : ''}
  WHERE ${where} AND request.state = '${from}'
  RETURNING ${[...returned].join(', ')}
)${logged}${hookTexts('request.completed', 'completed')()}`;
};
