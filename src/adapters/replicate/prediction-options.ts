import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../errors/domain-error.js';
import type { Model } from '../../models/model.js';
import type { AdapterTerms } from '../../requests/new-requests.js';
import { webhookUrl } from '../../requests/dto/submit.query.js';

/** The events of a filter, and those of the service that they mean besides the end of the request. */
const events = {
  start: 'request.started',
  output: 'request.output',
  logs: 'request.logs',
  completed: undefined,
} as const;
type Event = keyof typeof events;
const names = Object.keys(events) as Event[];
/** The events without a filter. */
const usualEvents: readonly Event[] = ['output', 'completed'];

/** The note of a planned cancel is kept until its time comes. */
const [shortestLifeMs, longestLifeMs] = [5_000, 30 * 86_400_000];
const unitsMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };

export interface PredictionOptions {
  /** The options as the service's own query has them. */
  query: Record<string, unknown>;
  runWebhook: AdapterTerms['runWebhook'];
  /** The age at which it is cancelled; undefined: it has none. */
  lifeMs: number | undefined;
}

/** Reads the options of a prediction. Other members of the body are ignored, as Replicate does. */
export function predictionOptions(
  { webhook, webhook_events_filter: filter }: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
  { timeoutMs, expiresMs }: Pick<Model, 'timeoutMs' | 'expiresMs'>,
): PredictionOptions {
  const url = webhook === undefined || webhook === null ? undefined : urlOf(webhook);
  const wanted = eventsOf(filter);
  const lifeMs = lifeMsOf(headers['cancel-after']);
  const ofRun = wanted.flatMap((event) => events[event] ?? []);
  return {
    query: {
      ...(wanted.includes('completed') && { webhook: url }),
      // These hold even if the node is lost before it has noted the age. The model's own bounds are not the caller's.
      ...(lifeMs !== undefined && lifeMs < (expiresMs ?? Infinity) && { expires: `${lifeMs}ms` }),
      ...(lifeMs !== undefined && lifeMs < timeoutMs && { timeout: `${lifeMs}ms` }),
    },
    runWebhook: url === undefined || ofRun.length === 0 ? undefined : { url, events: ofRun },
    lifeMs,
  };
}

function urlOf(webhook: unknown): string {
  try {
    return webhookUrl.read(webhook);
  } catch (error) {
    throw new DomainError('bad_request', `The option "webhook": ${(error as Error).message}.`);
  }
}

function eventsOf(filter: unknown): readonly Event[] {
  if (filter === undefined || filter === null) return usualEvents;
  const isList = Array.isArray(filter) && filter.every((one) => (names as readonly unknown[]).includes(one));
  if (isList) return filter.length === 0 ? usualEvents : names.filter((name) => filter.includes(name));
  const detail = `The option "webhook_events_filter" takes a list of ${names.join(', ')}.`;
  throw new DomainError('bad_request', detail);
}

/** `30s`, `1m`, `1h30m45s`. A bare number is in seconds. */
function lifeMsOf(field: string | string[] | undefined): number | undefined {
  if (field === undefined) return undefined;
  const text = String(field);
  const parts = /^\d{1,9}$/.test(text)
    ? [`${text}s`]
    : (/^(?:\d{1,6}[hms])+$/.exec(text)?.[0].match(/\d+[hms]/g) ?? []);
  const ms = parts.reduce((sum, part) => sum + Number(part.slice(0, -1)) * unitsMs[part.at(-1)!]!, 0);
  if (ms >= shortestLifeMs && ms <= longestLifeMs) return ms;
  throw new DomainError(
    'bad_request',
    'The header Cancel-After takes a duration from 5s to 720h, such as 30s or 1h30m.',
  );
}
