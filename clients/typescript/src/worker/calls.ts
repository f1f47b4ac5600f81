import { Deadline, pause } from '../deadline.js';
import { authorizationOf, secondsOf } from '../transport.js';
import type { Backoff } from './backoff.js';

export interface WorkerCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path after `/v1/worker`. */
  path: string;
  body?: string | undefined;
  contentType?: string;
  leaseToken?: string;
  /** Seconds that the service may hold its answer. */
  waitS?: number;
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  /** The code of a problem. undefined: something between worker and service answered. */
  code?: string | undefined;
  detail?: string | undefined;
  retryAfterS?: number | undefined;
  /** The text from which `body` was parsed. */
  text: string;
  body: Record<string, unknown>;
}

const patienceMs = 30_000;
const holdPatienceMs = 10_000;
/** The slowest line that the time limit allows for. */
const bytesPerMs = 64;

/** Calls of the worker protocol. All of them may be repeated. */
export class WorkerCalls {
  readonly base: string;
  readonly authorization: Record<string, string>;

  constructor({ url, key }: { url: string; key: string | undefined }) {
    if (!/^https?:\/\/[^/]/.test(url))
      throw new TypeError(`The address of the service must begin with http:// or https://, unlike ${url}.`);
    this.base = url.replace(/\/+$/, '');
    this.authorization = authorizationOf(key);
  }

  /** Makes one try. Rejects if there is no readable answer. */
  async once({ method, path, body, contentType = 'application/json', ...call }: WorkerCall): Promise<Answer> {
    const deadline = new Deadline(call.signal);
    const headers = new Headers(this.authorization);
    if (body !== undefined) headers.set('content-type', contentType);
    if (call.leaseToken !== undefined) headers.set('lease-token', call.leaseToken);
    if (call.waitS !== undefined) headers.set('prefer', `wait=${call.waitS}`);
    const held = call.waitS === undefined ? patienceMs : call.waitS * 1_000 + holdPatienceMs;
    deadline.start(held + (body?.length ?? 0) / bytesPerMs);
    try {
      const url = `${this.base}/v1/worker${path}`;
      const init = { method, headers, body: body ?? null, signal: deadline.signal };
      // Another origin must get neither the lease nor an output.
      return await answerOf(await fetch(url, { ...init, redirect: 'manual' }));
    } finally {
      deadline.end();
    }
  }

  /** Retries until the service has decided, either way, or until `over` fires: undefined. A call under way goes on. */
  async untilDecided(call: WorkerCall, backoff: Backoff, over = call.signal): Promise<Answer | undefined> {
    while (over?.aborted !== true) {
      const answer = await this.once(call).catch(() => undefined);
      if (answer !== undefined && isDecided(answer)) return answer;
      await pause(backoff.next(answer?.retryAfterS), over);
    }
    return undefined;
  }
}

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status <= 299;

/** Returns whether the answer is temporary: overload, or something between worker and service. */
export function isPassing(answer: Answer): boolean {
  const { status, code } = answer;
  if (isSuccess(answer)) return false;
  return code === undefined || code === 'rate_limited' || [408, 425, 429].includes(status) || status >= 500;
}

/**
 * A key refused during a run may be restored while the lease lasts. A body that is too large stays so, also if a proxy
 * says it.
 */
const isDecided = (answer: Answer): boolean =>
  answer.status === 413 || (!isPassing(answer) && ![401, 403].includes(answer.status));

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const answer = {
    status: response.status,
    retryAfterS: secondsOf(response.headers.get('retry-after')),
    text,
  };
  const body = parsed(text);
  if (response.ok) {
    if (body === undefined && response.status !== 204)
      throw new Error('The answer is not a JSON object, or only a part of it.');
    return { ...answer, body: body ?? {} };
  }
  const { code, detail } = body ?? {};
  return {
    ...answer,
    body: body ?? {},
    code: typeof code === 'string' ? code : undefined,
    detail: typeof detail === 'string' ? detail : undefined,
  };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
