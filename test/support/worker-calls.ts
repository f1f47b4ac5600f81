import { randomUUID } from 'node:crypto';
import type { TestService } from './test-service.js';
import { keyHeader } from './queue-calls.js';

export interface WorkerRun {
  request_id: string;
  attempt: number;
  model_id: string;
  lease_token: string;
  lease_s: number;
  deadline_at: string;
  remaining_ms: number;
  key_name: string | null;
  tags: string[];
  priority: string;
  input?: Record<string, unknown>;
  input_url?: string;
  traceparent?: string;
}

export interface BeatAnswer {
  lease_s: number;
  beat_s: number;
  worker: string;
  cancel: string[];
  lost: string[];
}

interface ClaimOptions {
  claimId?: string;
  models?: (string | { model_id: string; max?: number })[];
  max?: number;
  wait?: number;
  signal?: AbortSignal;
}

/** The calls of a worker, as curl would make them. */
export class WorkerCalls {
  constructor(
    private readonly service: Pick<TestService, 'url' | 'key'>,
    readonly id = `worker-${randomUUID()}`,
    private readonly key = service.key,
  ) {}

  claim({ claimId = randomUUID(), models = ['test/pulled'], max, wait, signal }: ClaimOptions = {}) {
    const named = models.map((one) => (typeof one === 'string' ? { model_id: one } : one));
    const body = { claim_id: claimId, worker: { id: this.id }, models: named, ...(max && { max }) };
    return this.call('POST', 'claims', {
      body: JSON.stringify(body),
      headers: wait === undefined ? {} : { prefer: `wait=${wait}` },
      ...(signal && { signal }),
    });
  }

  /** Returns the runs of a claim. The call is held. */
  async runs(options: ClaimOptions = {}): Promise<WorkerRun[]> {
    const response = await this.claim({ wait: 20, ...options });
    expect(response.status).toBe(200);
    return ((await response.json()) as { runs: WorkerRun[] }).runs;
  }

  async run(options: ClaimOptions = {}): Promise<WorkerRun> {
    const [run, ...more] = await this.runs(options);
    expect(more).toEqual([]);
    return run!;
  }

  async beat(runs: readonly WorkerRun[] = [], wait = 0, state = 'ready'): Promise<BeatAnswer> {
    const leases = runs.map(({ lease_token }) => lease_token);
    const body = JSON.stringify({ worker_id: this.id, state, leases });
    const response = await this.call('POST', 'beats', { body, headers: { prefer: `wait=${wait}` } });
    expect(response.status).toBe(200);
    return (await response.json()) as BeatAnswer;
  }

  events(run: WorkerRun, from: number, lines: object[]): Promise<Response> {
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    return this.ofRun('POST', run, `events?from=${from}`, body);
  }

  output(run: WorkerRun, output: unknown = { done: true }): Promise<Response> {
    return this.ofRun('PUT', run, 'output', output === undefined ? '' : JSON.stringify(output));
  }

  failure(run: WorkerRun, failure: object = { message: 'no' }): Promise<Response> {
    return this.ofRun('PUT', run, 'failure', JSON.stringify(failure));
  }

  release(run: WorkerRun, release?: object): Promise<Response> {
    return this.ofRun('POST', run, 'release', release && JSON.stringify(release));
  }

  /** `runs`: what it gives back; undefined: all that it has. */
  leave(runs?: readonly WorkerRun[]): Promise<Response> {
    const leases = runs?.map(({ lease_token }) => lease_token);
    return this.call('DELETE', `workers/${this.id}`, leases && { body: JSON.stringify({ leases }) });
  }

  ofRun(method: string, run: WorkerRun, what: string, body?: string): Promise<Response> {
    return this.call(method, `runs/${run.request_id}/${what}`, {
      headers: { 'lease-token': run.lease_token },
      ...(body !== undefined && { body }),
    });
  }

  call(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(`/v1/worker/${path}`, this.service.url), {
      ...init,
      method,
      headers: { ...keyHeader(this.key), ...(init.headers as Record<string, string>) },
    });
  }
}

export const pulled = { runner: { kind: 'worker' }, concurrency: undefined };
