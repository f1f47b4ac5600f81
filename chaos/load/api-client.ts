import type { IncomingHttpHeaders } from 'node:http';
import type { ServiceNode } from '../cluster/service-node.js';
import { now } from '../clock.js';
import type { Caller, LimitedCall } from './caller.js';
import { httpCall } from './http-call.js';
import type { Ledger } from './ledger.js';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined: the body is no JSON. */
  body: unknown;
  sentAt: number;
  answeredAt: number;
}

export interface CallOptions {
  body?: unknown;
  idempotencyKey?: string;
}

/** A call must be answered within this time, whatever happens to the database. */
const boundMs = 11_000;
const patienceMs = 20_000;

/** Makes calls, and checks every answer for what no answer may contain. */
export class ApiClient {
  worstMs = 0;

  constructor(private readonly ledger: Ledger) {}

  /** undefined: the connection failed or no answer came in time. */
  async call(
    caller: Caller,
    node: ServiceNode,
    method: string,
    path: string,
    { body, idempotencyKey }: CallOptions = {},
  ): Promise<Answer | undefined> {
    const headers = caller.headers;
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sentAt = now();
    let answer: Answer | undefined;
    try {
      const raw = await httpCall(method, `${node.url}/v1/queue/${path}`, headers, text, patienceMs);
      const { status, headers: fields } = raw;
      answer = { status, headers: fields, body: parse(raw.text), sentAt, answeredAt: now() };
    } catch (error) {
      this.ledger.count('calls without an answer');
      this.ledger.disturb(node, `${method} ${path}: ${(error as Error).message}`, sentAt, now());
    }
    const end = answer?.answeredAt ?? now();
    this.time(node, `${method} ${path}`, sentAt, end, answer !== undefined);
    if (answer !== undefined) this.judge(node, `${method} ${path}`, answer);
    countCall(caller, method, node, sentAt, end, answer);
    return answer;
  }

  private judge(
    node: ServiceNode,
    what: string,
    { status, headers, body, sentAt, answeredAt }: Answer,
  ): void {
    this.ledger.count(`answers ${status}`);
    const code = codeOf(body);
    if (status === 503 && headers['retry-after'] === undefined) {
      this.ledger.violate('a 503 says when to come back', `${what} on ${node.name}`);
    }
    if (code === 'rate_limited' && !/^[1-9]\d*$/.test(headers['retry-after'] ?? '')) {
      this.ledger.violate('a refusal says when to come back', `${what} on ${node.name}`);
    }
    if (status === 500 || code === 'internal_error') {
      this.ledger.violate('nothing is answered with 500', `${what} on ${node.name}: ${JSON.stringify(body)}`);
    } else if (status === 503) {
      this.ledger.disturb(node, `${what}: 503 ${detailOf(body)}`, sentAt, answeredAt);
    }
  }

  private time(node: ServiceNode, what: string, from: number, to: number, isAnswered: boolean): void {
    if (node.wasAway(from, to)) return;
    this.worstMs = Math.max(this.worstMs, to - from);
    if (to - from <= boundMs) return;
    const late = `${what} took ${((to - from) / 1_000).toFixed(1)} s`;
    if (isAnswered) this.ledger.lateAnswers.push({ node, what: late, from, to });
    else
      this.ledger.violate('a call is answered in bounded time', `${late} on ${node.name}, without an answer`);
  }
}

/** How long a caller over its limit has to wait; undefined: the call was not refused because of a limit. */
export function refusedForMs(answer: Pick<Answer, 'headers' | 'body'> | undefined): number | undefined {
  if (codeOf(answer?.body) !== 'rate_limited') return undefined;
  return Number(answer!.headers['retry-after'] ?? 1) * 1_000;
}

/** Returns whether there is an answer, and it does not ask the caller to come again. */
export function isConclusive(answer: Answer | undefined): answer is Answer {
  return answer !== undefined && answer.status !== 503 && codeOf(answer.body) !== 'rate_limited';
}

export function countCall(
  caller: Caller,
  method: string,
  node: ServiceNode,
  sentAt: number,
  answeredAt: number,
  answer: Pick<Answer, 'status' | 'body'> | undefined,
): void {
  const refused = codeOf(answer?.body) === 'rate_limited';
  let result: LimitedCall['result'] = refused ? 'refused' : 'admitted';
  if (answer === undefined || answer.status >= 500) result = 'unknown';
  const { 'violated-policies': violated = [] } = (answer?.body ?? {}) as { 'violated-policies'?: string[] };
  caller.calls[method === 'POST' ? 'submit' : 'other'].push({ sentAt, answeredAt, node, result, violated });
}

function codeOf(body: unknown): string | undefined {
  return (body as { code?: string } | null | undefined)?.code;
}

function detailOf(body: unknown): string {
  return (body as { detail?: string } | null | undefined)?.detail ?? '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
