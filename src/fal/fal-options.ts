import { problem, validated } from '../http/input/validated.js';
import { tag } from '../requests/dto/submit.query.js';
import { Parsed } from '../tools/validation.js';

const maxTags = 8;

class FalHeaders {
  @Parsed(seconds('X-Fal-Request-Timeout'), problem('bad_request'))
  'x-fal-request-timeout': number | undefined;

  /** The name of the same header in newer clients. */
  @Parsed(seconds('X-Fal-Request-Start-Timeout'), problem('bad_request'))
  'x-fal-request-start-timeout': number | undefined;

  @Parsed(priority, problem('bad_request'))
  'x-fal-queue-priority': 'low' | undefined;

  @Parsed(tags, problem('bad_request'))
  'x-fal-tags': readonly string[] | undefined;
}

class FalQuery {
  @Parsed(wholeNumber, problem('invalid_query'))
  fal_max_queue_length: number | undefined;
}

export interface FalOptions {
  /** How long the request may wait for its start. */
  startMs: number | undefined;
  /** The request is refused if more already wait. */
  maxQueueLength: number | undefined;
  /** The options as the service's own query has them. */
  query: Readonly<Record<string, unknown>>;
}

/** Reads the submission options of fal's clients. The service's own query parameters work too. */
export function falOptions(query: object, headers: object): FalOptions {
  const sent = validated(FalHeaders, headers);
  const { 'x-fal-queue-priority': low, 'x-fal-tags': tagged } = sent;
  // Unknown parameters of fal are ignored.
  const own = Object.entries(query).filter(([name]) => !name.startsWith('fal_') || name === 'fal_webhook');
  return {
    startMs: sent['x-fal-request-timeout'] ?? sent['x-fal-request-start-timeout'],
    maxQueueLength: validated(FalQuery, query).fal_max_queue_length,
    query: {
      ...(low !== undefined && { priority: low }),
      ...(tagged !== undefined && { tag: tagged }),
      ...Object.fromEntries(own),
    },
  };
}

function seconds(header: string): (value: string) => number {
  return (value) => {
    const ms = /^\d{1,9}(\.\d+)?$/.test(value) ? Math.round(Number(value) * 1_000) : 0;
    if (ms < 1) throw new Error(`The header ${header} takes seconds, such as 30 or 1.5.`);
    return ms;
  };
}

/** Clients send `normal` by default, but a key may only allow less, so it counts as not given. */
function priority(value: string): 'low' | undefined {
  if (value !== 'normal' && value !== 'low') {
    throw new Error('The header X-Fal-Queue-Priority takes normal or low.');
  }
  return value === 'low' ? value : undefined;
}

/** `key=value,…`. As fal does, it keeps the valid ones. */
function tags(value: string): string[] | undefined {
  const valid = value.split(',').flatMap((pair) => {
    try {
      return [tag(pair.trim().replace('=', ':'))];
    } catch {
      return [];
    }
  });
  return valid.length === 0 ? undefined : valid.slice(0, maxTags);
}

function wholeNumber(value: unknown): number {
  if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value);
  throw new Error('The query parameter "fal_max_queue_length" takes a whole number.');
}
