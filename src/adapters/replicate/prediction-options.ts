import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../errors/domain-error.js';
import { waitSeconds } from '../../http/input/prefer.js';
import type { Model } from '../../models/model.js';
import { webhookUrl } from '../../requests/dto/submit.query.js';

const events = ['start', 'output', 'logs', 'completed'] as const;
type Event = (typeof events)[number];

const longestWaitSeconds = 60;
const shortestLifeMs = 5_000;
const unitsMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };

export interface PredictionOptions {
  /** The options as the service's own query has them. */
  query: Record<string, unknown>;
  startWebhookUrl: string | undefined;
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
  return {
    query: {
      ...(wanted.includes('completed') && { webhook: url }),
      ...(lifeMs !== undefined && {
        expires: `${Math.min(lifeMs, expiresMs ?? Infinity)}ms`,
        timeout: `${Math.min(lifeMs, timeoutMs)}ms`,
      }),
    },
    startWebhookUrl: wanted.includes('start') ? url : undefined,
  };
}

function urlOf(webhook: unknown): string {
  try {
    return webhookUrl.read(webhook);
  } catch (error) {
    throw new DomainError('bad_request', `The option "webhook": ${(error as Error).message}.`);
  }
}

/** Events of the output and of the log are not sent, so a filter must name another one. */
function eventsOf(filter: unknown): readonly Event[] {
  if (filter === undefined || filter === null) return ['completed'];
  const isList = Array.isArray(filter) && filter.every((one) => (events as readonly unknown[]).includes(one));
  if (!isList) {
    const detail = `The option "webhook_events_filter" takes a list of ${events.join(', ')}.`;
    throw new DomainError('bad_request', detail);
  }
  const wanted = filter as Event[];
  if (wanted.length === 0) return ['completed'];
  if (wanted.includes('start') || wanted.includes('completed')) return wanted;
  throw new DomainError(
    'bad_request',
    'The webhook events "output" and "logs" are not sent. Add "start" or "completed", or follow urls.stream.',
  );
}

/** `30s`, `1m`, `1h30m45s`. A bare number is in seconds. */
function lifeMsOf(field: string | string[] | undefined): number | undefined {
  if (field === undefined) return undefined;
  const text = String(field);
  const parts = /^\d{1,9}$/.test(text)
    ? [`${text}s`]
    : (/^(?:\d{1,6}[hms])+$/.exec(text)?.[0].match(/\d+[hms]/g) ?? []);
  const ms = parts.reduce((sum, part) => sum + Number(part.slice(0, -1)) * unitsMs[part.at(-1)!]!, 0);
  if (ms >= shortestLifeMs) return ms;
  throw new DomainError(
    'bad_request',
    'The header Cancel-After takes a duration of 5s or more, such as 30s or 1h30m.',
  );
}

/** Returns the seconds that `Prefer: wait` asks for. Without a number it asks for a minute. 0: it asks for none. */
export function preferredSeconds(field: string | string[] | undefined): number {
  if (field === undefined) return 0;
  const isBare = /(?:^|,)\s*wait\s*(?:[,;]|$)/i.test(String(field));
  return isBare ? longestWaitSeconds : waitSeconds(field, longestWaitSeconds);
}
