import { ticksOfWeight1 } from '../../src/queue/waiting/fair-queue.js';
import { setTimeout as delay } from 'node:timers/promises';
import { KeysService } from '../../src/auth/keys.service.js';
import { type TestService, until } from './index.js';

export interface Status {
  status: 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED';
  request_id: string;
  queue_position?: number;
  response_url: string;
  status_url: string;
  cancel_url: string;
  attempt: number;
  reason?: string;
  metrics: { queue_time?: number; inference_time?: number | null };
  logs?: { message: string; level: string; source: string; timestamp: string }[];
  success?: boolean;
  error?: { code: string; message: string; timestamp: string; details?: unknown } | null;
}

export interface ProblemBody {
  type: string;
  title: string;
  status: number | string;
  detail: string;
  instance: string;
  code: string;
  timestamp: string;
  errors?: { path: string; message: string }[];
  details?: unknown;
}

/** Returns a UUIDv7 that was never assigned. Its time is now, so retention cannot have removed it. */
export function unknownId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** Returns the problem of an answer, after checking the members that every problem has. */
export async function problemOf(response: Response): Promise<ProblemBody> {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-request-id')).toMatch(/^[\w.-]+$/);
  const problem = (await response.json()) as ProblemBody;
  const members = ['type', 'title', 'status', 'detail', 'instance', 'code', 'timestamp'];
  expect(Object.keys(problem).slice(0, 7)).toEqual(members);
  expect(problem).toMatchObject({
    type: `/docs/errors#${problem.code}`,
    title: expect.any(String),
    detail: expect.any(String),
    instance: expect.any(String),
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(problem.status).toBe(response.status);
  return problem;
}

/** Returns status and code: `[404, 'unknown_request']`. */
export async function verdict(response: Response | Promise<Response>): Promise<[number, string]> {
  const answer = await response;
  return [answer.status, (await problemOf(answer)).code];
}

/** Counts the answers per status: `{ 202: 10, 403: 90 }`. */
export async function statusCounts(answers: Promise<Response>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** The API calls as a caller makes them. */
export class QueueCalls {
  constructor(readonly service: TestService) {}

  /**
   * Returns the id when the request was accepted. Over the limits it retries after the time that the answer states, as
   * clients should.
   */
  async submit(model: string, input: unknown = {}, headers?: Record<string, string>): Promise<string> {
    let response = await this.service.submit(model, input, headers);
    while (response.status === 403) {
      await delay(Number(response.headers.get('retry-after')) * 1_000);
      response = await this.service.submit(model, input, headers);
    }
    const body = (await response.json()) as { request_id: string };
    expect([response.status, body]).toEqual([202, expect.anything()]);
    return body.request_id;
  }

  /** Submits one after another, so that the order is known. */
  async submitAll(count: number, model: string, input: unknown = {}): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) ids.push(await this.submit(model, input));
    return ids;
  }

  path(id: string): string {
    return `/v1/queue/requests/${id}`;
  }

  async status(id: string, query = ''): Promise<Status> {
    const response = await this.service.get(`${this.path(id)}/status${query}`);
    expect(response.status).toBe(200);
    return (await response.json()) as Status;
  }

  reached(id: string, state: Status['status'], query = ''): Promise<Status> {
    return until(
      async () => {
        const status = await this.status(id, query);
        return status.status === state && status;
      },
      { message: `${id} is ${state}`, explain: () => this.status(id, '?logs=1') },
    );
  }

  /** Waits for the completion and fetches the response. */
  async response(id: string, query = '', init?: RequestInit): Promise<Response> {
    await this.reached(id, 'COMPLETED');
    return this.service.get(`${this.path(id)}${query}`, init);
  }

  cancel(id: string, init?: RequestInit): Promise<Response> {
    return this.service.put(`${this.path(id)}/cancel`, init);
  }

  /** Submits a request and waits until it has completed. */
  async run(model: string, input: unknown = {}): Promise<string> {
    const id = await this.submit(model, input);
    await this.reached(id, 'COMPLETED');
    return id;
  }

  async newKey(key: Partial<Parameters<KeysService['create']>[0]> = {}): Promise<string> {
    return (await this.service.app.get(KeysService).create({ name: 'another', ...key })).reveal();
  }

  async count(table: string): Promise<number> {
    const [row] = await this.service.query<{ rows: number }>(
      `SELECT count(*)::integer AS rows FROM ${table}`,
    );
    return row!.rows;
  }
}

export const keyHeader = (key: string): { authorization: string } => ({ authorization: `Key ${key}` });

/** Returns what a submission is written from, as the routes pass it to `Submissions`. */
export async function queueRequest({ query }: TestService, modelId: string, input: object = {}) {
  const [key] = await query<{ id: string }>('SELECT id FROM api_key');
  const expiresMs = null;
  const order = { priority: 0, ticks: ticksOfWeight1, isBounded: false };
  return { modelId, keyId: key!.id, ...order, input: Buffer.from(JSON.stringify(input)), expiresMs };
}
