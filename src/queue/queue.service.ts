import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { ModelsService } from '../models/models.service.js';
import { AtATime } from '../tools/at-a-time.js';
import { Batcher } from '../tools/batcher.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { ModelAvailability } from './circuits/model-availability.js';
import { Estimates } from './estimates/estimates.js';
import { readLog } from './reads/queries/read-log.js';
import { readSmallOutput } from './reads/queries/read-output.js';
import {
  type PayloadColumn,
  payloadLength,
  readPayloadText,
  readSmallPayload,
} from './reads/queries/read-payload.js';
import { readStatus } from './reads/queries/read-status.js';
import { outputOf } from './runs/event-buffer.js';
import type { LogEntry } from './runs/run-log.js';
import type { Snapshot, StatusRow, Waiting, WaitReason } from './reads/status-row.js';
import { WaitingIndex } from './waiting/waiting-index.js';

/** Outputs above this size on disk are read when a reader has room for them. */
const largeBytes = 16 * 1024;
/** At most one in this many connections reads a large output, so that connections are left for everything else. */
const connectionsPerLargeRead = 3;
/**
 * Outputs above this size are read one at a time: decoding and sending several at once would keep the event loop busy.
 */
const hugeBytes = 1024 * 1024;

/** The reader of an input or output, which is charged for its bytes. */
interface ChargedReader {
  readonly name: string;
  /** Throws if there is no room for this many bytes. */
  reserveAnswer(bytes: number): void;
}

/** Serves callers' calls on submitted requests: reads status, log, input and output. */
@Injectable()
export class QueueService {
  private readonly largeReads: AtATime;
  private readonly hugeReads = new AtATime(1);
  /** Sizes in bytes, by column and id of the request. They do not change. */
  private readonly largeSizes = new BoundedCache<Promise<number | undefined>>(10_000);

  private readonly statuses: Batcher<string, StatusRow | undefined>;

  constructor(
    private readonly database: Database,
    private readonly index: WaitingIndex,
    private readonly availability: ModelAvailability,
    private readonly estimates: Estimates,
    private readonly models: ModelsService,
    config: Config,
  ) {
    this.largeReads = new AtATime(Math.max(1, Math.floor(config.databasePoolSize / connectionsPerLargeRead)));
    const pipeline = database.pipeline();
    const options = { maxItems: 256, writers: 3, earlyItems: 16, itemsBehind: 8 };
    this.statuses = new Batcher((ids) => readStatus(pipeline, ids), options);
  }

  /** undefined: there is no such request. */
  status(requestId: string): Promise<StatusRow | undefined> {
    return this.statuses.add(requestId);
  }

  /**
   * Returns the position, that is how many requests of its model will be started before it (exact, 0 at the front),
   * and why it waits.
   */
  waiting(row: StatusRow): Waiting {
    if (row.state !== 'IN_QUEUE') return { position: 0, reason: undefined };
    // It joins the queue behind all requests that wait then. That may be a moment after its time.
    const isDelayed = row.delayedUntilMs !== null;
    if (isDelayed && row.attempt === 0)
      return { position: this.index.depth(row.modelId), reason: 'scheduled' };
    return { position: this.index.position(row), reason: isDelayed ? 'retrying' : this.reason(row) };
  }

  private reason({ modelId }: StatusRow): WaitReason {
    const model = this.models.get(modelId);
    if (model === undefined) return 'unavailable';
    if (model.paused !== null) return 'paused';
    return this.availability.of(modelId) === 'unavailable' ? 'unavailable' : 'busy';
  }

  snapshot(row: StatusRow): Snapshot {
    const { position, reason } = this.waiting(row);
    const estimate = this.estimates.of(row, { position, reason });
    if (reason !== 'unavailable') return { row, position, reason, estimate };
    return { row, position, reason, estimate, nextProbeAtMs: this.availability.nextProbeAtMs(row.modelId) };
  }

  /** Returns the log entries after one event and up to another. */
  log(requestId: string, after: number, upTo: number): Promise<LogEntry[]> {
    return readLog(this.database, requestId, after, upTo);
  }

  /**
   * Returns the JSON text as the model sent it; null: there is none. The size of a large output is reserved for its
   * reader before it is read, which throws if there is no room for it.
   */
  output(requestId: string, reader?: ChargedReader): Promise<string | null> {
    return this.payload('output', requestId, reader);
  }

  /** Returns the JSON text as the caller sent it; null: it was deleted. Large inputs are read as large outputs are. */
  input(requestId: string, reader?: ChargedReader): Promise<string | null> {
    return this.payload('input', requestId, reader);
  }

  private async payload(
    column: PayloadColumn,
    requestId: string,
    reader: ChargedReader | undefined,
  ): Promise<string | null> {
    const small = await readSmallPayload(this.database, column, requestId, largeBytes);
    if (small !== null) return small ?? null;
    const caller = reader?.name ?? '';
    const bytes = await this.largeSize(column, requestId, caller);
    if (bytes === undefined) return null;
    reader?.reserveAnswer(bytes);
    const read = (): Promise<string | undefined> => readPayloadText(this.database, column, requestId);
    const inTurn = (): Promise<string | undefined> => this.largeReads.run(caller, read);
    return (await (bytes > hugeBytes ? this.hugeReads.run(caller, inTurn) : inTurn())) ?? null;
  }

  /** Measures the size once for all readers, so that it costs nothing to refuse a reader without room for it. */
  private largeSize(column: PayloadColumn, requestId: string, caller: string): Promise<number | undefined> {
    const name = `${column} ${requestId}`;
    const known = this.largeSizes.get(name, performance.now());
    if (known !== undefined) return known;
    const size = this.largeReads.run(caller, () => payloadLength(this.database, column, requestId));
    this.largeSizes.set(name, size, Infinity);
    size.catch(() => this.largeSizes.delete(name));
    return size;
  }

  /**
   * Returns the output that a start of a request has emitted until now, as JSON text; null: it has emitted none, or more
   * than this.
   */
  async outputSoFar(requestId: string, start: number, maxBytes: number): Promise<string | null> {
    const output = outputOf(await readSmallOutput(this.database, requestId, start, maxBytes));
    return output === undefined || Buffer.byteLength(output) > maxBytes ? null : output;
  }

  async hasOutput(requestId: string): Promise<boolean> {
    return (await readSmallPayload(this.database, 'output', requestId, 0)) !== undefined;
  }
}
