import { linesContent } from './batch-lines.js';
import { pause } from './deadline.js';
import { LocalFile, type Uploads } from './files.js';
import { durationOf, idempotencyHeader, refuse } from './options.js';
import type { Call, Transport } from './transport.js';
import type {
  Batch,
  BatchError,
  BatchLine,
  BatchListOptions,
  BatchOptions,
  BatchOutput,
  BatchWaitOptions,
  CallOptions,
} from './types.js';

/** Pauses between two looks at a batch. */
const pollMs = { first: 500, last: 10_000 };

/** The batches of the key. All methods reject with a `NowServingError`. */
export class Batches {
  constructor(
    private readonly transport: Transport,
    private readonly uploads: Uploads,
  ) {}

  /**
   * Uploads the lines and creates a batch of them. `lines` is an array, a generator or another iterable of lines, or a
   * file in the service's own form (NDJSON) as a `Blob` or `file(…)`, or the URL of such a file that was uploaded before.
   */
  async create(
    lines: Iterable<BatchLine> | AsyncIterable<BatchLine> | Blob | LocalFile | string,
    options: BatchOptions = {},
  ): Promise<Batch> {
    const { model, tag, webhook, priority, completionWindowS, idempotencyKey, signal, ...others } = options;
    refuse(others, 'option', 'model, tag, webhook, priority, completionWindowS and idempotencyKey');
    const body = {
      input_file: typeof lines === 'string' ? lines : await this.uploaded(lines, signal),
      model_id: model,
      tag,
      webhook,
      priority,
      completion_window: durationOf(completionWindowS),
    };
    return this.send([], { method: 'POST', body, headers: idempotencyHeader(idempotencyKey), signal });
  }

  get(batchId: string, { signal }: CallOptions = {}): Promise<Batch> {
    return this.send([batchId], { signal });
  }

  /** Yields the batches of the key, newest first. Fetches the next page when it is needed. */
  async *list({ limit, signal, ...filter }: BatchListOptions = {}): AsyncGenerator<Batch, void, void> {
    const { status, tag, ...others } = filter;
    refuse(others, 'filter', 'status and tag');
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      // A cursor contains its filters.
      const query = { ...(isFirst && { status, tag }), limit, cursor };
      const page = await this.send<{ data: Batch[]; next_cursor: string | null }>([], { query, signal });
      yield* page.data;
      cursor = page.next_cursor ?? undefined;
    }
  }

  /** Cancels a batch. Lines that run end first; then its status is `cancelled`. */
  cancel(batchId: string, { signal }: CallOptions = {}): Promise<Batch> {
    return this.send([batchId, 'cancel'], { method: 'PUT', signal });
  }

  /** Waits until a batch has ended, in whatever way, and returns it. An outage may last as long as it likes. */
  async wait(batchId: string, { onCounts, signal }: BatchWaitOptions = {}): Promise<Batch> {
    let seen = '';
    let limit: number | undefined;
    for (let pauseMs = pollMs.first; ; pauseMs = Math.min(pauseMs * 1.5, pollMs.last)) {
      const batch = await this.send<Batch>([batchId], { signal }, limit);
      limit = Infinity;
      const counts = JSON.stringify(batch.counts);
      if (counts !== seen) onCounts?.(batch.counts);
      seen = counts;
      if (batch.ended_at !== null) return batch;
      await pause(pauseMs * (1 + Math.random() / 4), signal);
    }
  }

  /** Yields the lines that have succeeded so far; all of them once the batch has ended. */
  output<Output = unknown>(
    batchId: string,
    options: CallOptions = {},
  ): AsyncGenerator<BatchOutput<Output>, void, void> {
    return this.linesOf(batchId, 'output', options);
  }

  /** Yields the lines that have not succeeded, each with its error. */
  errors(batchId: string, options: CallOptions = {}): AsyncGenerator<BatchError, void, void> {
    return this.linesOf(batchId, 'errors', options);
  }

  /** Deletes a batch that has ended, with its files. Its requests are kept as others are. */
  delete(batchId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.send([batchId], { method: 'DELETE', signal });
  }

  private async uploaded(
    lines: Iterable<BatchLine> | AsyncIterable<BatchLine> | Blob | LocalFile,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const options = { name: 'batch.jsonl', type: 'application/x-ndjson', signal };
    if (lines instanceof Blob || lines instanceof LocalFile) return this.uploads.upload(lines, options);
    const { content, failure, close } = await linesContent(lines, (input) => this.uploads.in(input, signal));
    try {
      return await this.uploads.upload(content, options);
    } catch (error) {
      close();
      throw failure.error ?? error;
    }
  }

  /** Yields the lines of a file, each once. After a broken connection the file is read again from its beginning. */
  private async *linesOf<Line extends { custom_id: string }>(
    batchId: string,
    file: 'output' | 'errors',
    { signal }: CallOptions,
  ): AsyncGenerator<Line, void, void> {
    const call: Call = { path: ['batches', batchId, file], signal };
    // While the batch runs, lines may move within the file. So what was yielded is known by its id, not by its place.
    // Lines that the service could not read have no id. They are counted.
    const yielded = new Set<string | number>();
    let limit: number | undefined;
    for (let failed = 0; ;) {
      try {
        let unread = 0;
        for await (const text of this.transport.lines(call)) {
          const line = JSON.parse(text) as Line;
          limit = Infinity;
          const id = line.custom_id === '' ? ++unread : line.custom_id;
          if (yielded.has(id)) continue;
          yielded.add(id);
          failed = 0;
          yield line;
        }
        return;
      } catch (error) {
        failed = await this.transport.again(error, failed, call, limit);
      }
    }
  }

  private async send<T>(route: string[], call: Omit<Call, 'path'>, limit?: number): Promise<T> {
    return (await this.transport.send<T>({ ...call, path: ['batches', ...route] }, limit)).body;
  }
}
