import type { ServiceNode } from '../cluster/service-node.js';
import { now } from '../clock.js';
import type { Ledger } from './ledger.js';

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined when it is none. */
  body: unknown;
  sentAt: number;
  answeredAt: number;
}

export interface CallOptions {
  body?: unknown;
  key?: string;
  idempotencyKey?: string;
}

/** A call must be answered within this, whatever the database does. */
const boundMs = 11_000;
const patienceMs = 20_000;

/** Makes calls, and looks at every answer for what no answer may be. */
export class ApiClient {
  worstMs = 0;

  constructor(private readonly ledger: Ledger) {}

  /** undefined: the connection failed or nothing came in time. */
  async call(
    node: ServiceNode,
    method: string,
    path: string,
    { body, key, idempotencyKey }: CallOptions = {},
  ): Promise<Answer | undefined> {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (key !== undefined) headers['authorization'] = `Key ${key}`;
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    const sentAt = now();
    try {
      const response = await fetch(`${node.url}/v1/queue/${path}`, {
        method,
        headers,
        signal: AbortSignal.timeout(patienceMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const answer = {
        status: response.status,
        headers: response.headers,
        body: parse(text),
        sentAt,
        answeredAt: now(),
      };
      this.judge(node, `${method} ${path}`, answer);
      return answer;
    } catch {
      this.ledger.count('calls without an answer');
      this.time(node, `${method} ${path}`, sentAt, now());
      return undefined;
    }
  }

  private judge(
    node: ServiceNode,
    what: string,
    { status, headers, body, sentAt, answeredAt }: Answer,
  ): void {
    this.ledger.count(`answers ${status}`);
    this.time(node, what, sentAt, answeredAt);
    const code = (body as { code?: string } | undefined)?.code;
    if (status === 503 && !headers.has('retry-after')) {
      this.ledger.violate('a 503 says when to come back', `${what} on ${node.name}`);
    }
    if (status === 500 || code === 'internal_error') {
      this.ledger.violate('nothing is answered with 500', `${what} on ${node.name}: ${JSON.stringify(body)}`);
    }
  }

  private time(node: ServiceNode, what: string, from: number, to: number): void {
    if (node.wasAway(from, to)) return;
    this.worstMs = Math.max(this.worstMs, to - from);
    if (to - from > boundMs) {
      const seconds = ((to - from) / 1_000).toFixed(1);
      this.ledger.violate('a call is answered in bounded time', `${what} on ${node.name} took ${seconds} s`);
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
