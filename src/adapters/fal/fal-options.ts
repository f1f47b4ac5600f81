import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../errors/domain-error.js';
import { tag } from '../../queue/submit/tags.js';

const maxTags = 8;

export interface FalOptions {
  /** How long the request may wait for its start. */
  startMs: number | undefined;
  /** The request is refused if more already wait. */
  maxQueueLength: number | undefined;
  /** The options as the service's own query has them. */
  query: Readonly<Record<string, unknown>>;
}

/** Reads the submission options of fal's clients. The service's own query parameters work too. */
export function falOptions(query: object, headers: IncomingHttpHeaders): FalOptions {
  const timeoutMs = msOf(headers, 'X-Fal-Request-Timeout');
  // The name of the same header in newer clients.
  const startTimeoutMs = msOf(headers, 'X-Fal-Request-Start-Timeout');
  const low = priorityOf(headers['x-fal-queue-priority']);
  const tags = tagsOf(headers['x-fal-tags']);
  // Unknown parameters of fal are ignored.
  const own = Object.entries(query).filter(([name]) => !name.startsWith('fal_') || name === 'fal_webhook');
  return {
    startMs: timeoutMs ?? startTimeoutMs,
    maxQueueLength: maxQueueLengthOf(query),
    query: {
      ...(low !== undefined && { priority: low }),
      ...(tags !== undefined && { tag: tags }),
      ...Object.fromEntries(own),
    },
  };
}

function msOf(headers: IncomingHttpHeaders, name: string): number | undefined {
  const field = headers[name.toLowerCase()];
  if (field === undefined) return undefined;
  const ms = /^\d{1,9}(\.\d+)?$/.test(String(field)) ? Math.round(Number(field) * 1_000) : 0;
  if (ms >= 1) return ms;
  throw new DomainError('bad_request', `The header ${name} takes seconds, such as 30 or 1.5.`);
}

/** Clients send `normal` by default, but a key may only allow less, so it counts as not given. */
function priorityOf(field: unknown): 'low' | undefined {
  if (field === undefined || field === 'normal') return undefined;
  if (field === 'low') return field;
  throw new DomainError('bad_request', 'The header X-Fal-Queue-Priority takes normal or low.');
}

/** `key=value,…`. As fal does, it keeps the valid ones. */
function tagsOf(field: unknown): string[] | undefined {
  if (typeof field !== 'string') return undefined;
  const valid = field.split(',').flatMap((pair) => {
    try {
      return [tag.read(pair.trim().replace('=', ':'))];
    } catch {
      return [];
    }
  });
  return valid.length === 0 ? undefined : valid.slice(0, maxTags);
}

function maxQueueLengthOf(query: object): number | undefined {
  const { fal_max_queue_length: length } = query as { fal_max_queue_length?: unknown };
  if (length === undefined) return undefined;
  if (typeof length === 'string' && /^\d{1,9}$/.test(length)) return Number(length);
  throw new DomainError('invalid_query', 'The query parameter "fal_max_queue_length" takes a whole number.');
}
