import { keyHeader } from './queue-calls.js';
import { until, type UntilOptions } from './until.js';

export interface BatchView {
  batch_id: string;
  status: string;
  model_id: string | null;
  tag: string | null;
  priority: string;
  started_at: string | null;
  ended_at: string | null;
  counts: Record<'waiting' | 'running' | 'completed' | 'failed' | 'cancelled' | 'expired', number> & {
    total: number | null;
  };
  errors: { line: number | null; code: string; message: string }[];
  batch_url: string;
  output_url: string;
}

export interface ResultLine {
  custom_id: string;
  request_id: string | null;
  output?: { done: string };
  error?: { code: string; message: string; model_status?: number; model_body?: unknown };
}

const endedStatuses = ['completed', 'failed', 'expired', 'cancelled'];

/** Calls about batches with one key. */
export class BatchCalls {
  constructor(readonly service: { url: string; key: string }) {}

  call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...keyHeader(this.service.key), ...(init.headers as Record<string, string>) };
    return fetch(`${this.service.url}/v1/batches${path}`, { ...init, headers });
  }

  async create(body: object, headers: Record<string, string> = {}): Promise<BatchView> {
    return this.made(await this.call('', { method: 'POST', headers, body: JSON.stringify(body) }));
  }

  /** Sends the lines as the body. */
  async send(
    lines: RequestInit['body'],
    query = '',
    headers: Record<string, string> = {},
  ): Promise<BatchView> {
    const init = {
      method: 'POST',
      body: lines,
      duplex: 'half',
      headers: { 'content-type': 'application/x-ndjson', ...headers },
    };
    return this.made(await this.call(query, init as RequestInit));
  }

  private async made(answer: Response): Promise<BatchView> {
    const batch = (await answer.json()) as BatchView;
    expect([answer.status, batch]).toEqual([202, expect.objectContaining({ batch_id: expect.any(String) })]);
    return batch;
  }

  /** Fails unless the counts are exact: their sum is the total. */
  async read(id: string): Promise<BatchView> {
    const answer = await this.call(`/${id}`);
    expect(answer.status).toBe(200);
    const batch = (await answer.json()) as BatchView;
    const { total, ...counts } = batch.counts;
    expect([id, batch.counts, Object.values(counts).reduce((a, b) => a + b)]).toEqual([
      id,
      batch.counts,
      total ?? 0,
    ]);
    return batch;
  }

  /** Reads it again and again, and so checks its counts, until it is as wanted. */
  until(id: string, isWanted: (batch: BatchView) => boolean, options: UntilOptions = {}): Promise<BatchView> {
    return until(async () => {
      const batch = await this.read(id);
      return isWanted(batch) && batch;
    }, options);
  }

  ended(id: string, options?: UntilOptions): Promise<BatchView> {
    return this.until(id, ({ status }) => endedStatuses.includes(status), options);
  }

  async cancel(id: string): Promise<Response> {
    return this.call(`/${id}/cancel`, { method: 'PUT' });
  }

  async lines(id: string, file: 'output' | 'errors'): Promise<ResultLine[]> {
    const answer = await this.call(`/${id}/${file}`);
    expect(answer.status).toBe(200);
    const text = await answer.text();
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as ResultLine]));
  }

  /** Both files of a batch that has ended. Fails unless they have each line once, and as many as were counted. */
  async results(batch: BatchView): Promise<{ output: ResultLine[]; errors: ResultLine[] }> {
    const [output, errors] = [
      await this.lines(batch.batch_id, 'output'),
      await this.lines(batch.batch_id, 'errors'),
    ];
    const { total, completed, failed, cancelled, expired } = batch.counts;
    expect([output.length, errors.length]).toEqual([completed, failed + cancelled + expired]);
    expect(output.length + errors.length).toBe(total);
    expect(new Set([...output, ...errors].map((line) => line.custom_id)).size).toBe(total);
    return { output, errors };
  }
}

/** Returns lines of the service's own form. */
export function inputLines(count: number, inputOf: (i: number) => object = () => ({})): string {
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({ custom_id: `line-${i}`, input: inputOf(i) }),
  ).join('\n');
}
