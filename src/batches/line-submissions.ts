import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Caller, type Priority, priorities } from '../auth/caller.js';
import { Database } from '../database/database.js';
import type { Queries } from '../database/statement.js';
import { DomainError } from '../errors/domain-error.js';
import { parseInputBody } from '../http/input/json-body.js';
import { assertFits } from '../json/jobs.js';
import { JsonThreads } from '../json/json-threads.js';
import { Gate } from '../limits/gate.js';
import type { Model } from '../models/model.js';
import { type NewRequest, Submissions } from '../queue/submit/submissions.js';
import { SubmitQuery } from '../requests/dto/submit.query.js';
import { NewRequests, rank } from '../requests/new-requests.js';
import { endErrors, refusedError } from './batch-errors.js';
import { BatchInput, InputLost } from './batch-input.js';
import { LineFormats } from './line-formats.js';
import type { TextLine } from './lines-of.js';
import type { LeasedBatch } from './queries/drive.js';
import { type RecordedLine, recordLines } from './queries/lines.js';
import { maxSliceMs } from './validation.js';

/** Lines and bytes of one commit. */
const groupLines = 250;
const groupBytes = 1024 ** 2;
/** Lines of one commit that become no requests. */
const refusedLines = 1_000;
/** A refusal of all lines, such as a full queue, ends. Without a time, it is looked at again after this long. */
const retryAfterSeconds = 1;
/** Refusals that end by themselves. Any other one is an error of its line. */
const passing = new Set(['rate_limited', 'queue_full', 'model_paused', 'unavailable', 'overloaded']);

/** A line that was read, with its place in the input. */
interface ReadLine {
  customId: string;
  /** The place behind it. */
  end: number;
  /** Bytes of the line. */
  size: number;
  request: NewRequest | undefined;
  refused: RecordedLine['refused'];
}

/** Reads on in the input of a batch, and records each line as a request or as refused. */
@Injectable()
export class LineSubmissions {
  constructor(
    private readonly database: Database,
    private readonly input: BatchInput,
    private readonly formats: LineFormats,
    private readonly newRequests: NewRequests,
    private readonly submissions: Submissions,
    private readonly gate: Gate,
    private readonly json: JsonThreads,
  ) {}

  /**
   * Submits at most `room` lines, in groups. A group, its lines and the new place in the input are one commit. Returns
   * the milliseconds after which more may be submitted. 0: at once.
   */
  async submit(
    batch: LeasedBatch,
    caller: Caller,
    { room, untilMs, signal }: { room: number; untilMs: number; signal: AbortSignal },
  ): Promise<number> {
    let left = room;
    let group: ReadLine[] = [];
    let bytes = 0;
    let since = performance.now();
    const flush = async (): Promise<number> => {
      const { recorded, waitMs } = await this.write(batch, caller, group);
      left -= recorded;
      group = [];
      bytes = 0;
      return waitMs;
    };
    for await (const line of this.linesLeft(batch)) {
      const read = await this.read(batch, caller, line);
      group.push(read);
      bytes += read.size;
      if (group.length >= Math.min(groupLines, left) || bytes >= groupBytes) {
        const waitMs = await flush();
        if (waitMs > 0) return waitMs;
        if (left <= 0 || performance.now() >= untilMs) return 0;
      }
      if (performance.now() - since < maxSliceMs) continue;
      signal.throwIfAborted();
      await nextTurn();
      since = performance.now();
    }
    if (group.length > 0) return flush();
    // Without a line although some are left: the rest of the input is gone.
    if (left === room)
      await this.recordLost(batch, { outcome: 'failed', error: refusedError(new InputLost()) });
    return 0;
  }

  /** Records a group of lines that are not submitted any more, because the batch ends. */
  async refuse(batch: LeasedBatch, endsAs: 'cancelled' | 'expired'): Promise<void> {
    const format = this.formats.find(batch.format)!;
    const refused = { outcome: endsAs, error: endErrors[endsAs] };
    const group: ReadLine[] = [];
    for await (const { bytes, end } of this.linesLeft(batch)) {
      const { customId } = format.read(bytes, batch);
      group.push({ customId, end, size: bytes.length, request: undefined, refused });
      if (group.length === refusedLines) break;
    }
    if (group.length === 0) return this.recordLost(batch, refused);
    await this.record(this.database, batch, group, []);
    advance(batch, group);
  }

  /** Yields the lines that are left in the input and can be read. */
  private async *linesLeft({ inputFileId, readBytes }: LeasedBatch): AsyncGenerator<TextLine> {
    try {
      yield* this.input.lines(inputFileId, readBytes);
    } catch (error) {
      if (!(error instanceof InputLost)) throw error;
    }
  }

  /** Records lines that were counted and cannot be read any more. Nothing is known of them, so their id is an empty text. */
  private async recordLost(batch: LeasedBatch, refused: ReadLine['refused']): Promise<void> {
    const lines = Array.from({ length: Math.min(refusedLines, batch.total! - batch.readLines) }, () => ({
      ...{ customId: '', end: batch.readBytes, size: 0 },
      ...{ request: undefined, refused },
    }));
    await this.record(this.database, batch, lines, []);
    advance(batch, lines);
  }

  private async read(
    batch: LeasedBatch,
    caller: Caller,
    { bytes, end }: { bytes: Buffer; end: number },
  ): Promise<ReadLine> {
    const { customId, modelId, input } = this.formats.find(batch.format)!.read(bytes, batch);
    const line = { customId, end, size: bytes.length };
    try {
      const model = this.newRequests.modelNamed(caller, modelId ?? batch.modelId ?? undefined);
      const checked = await this.checked(model, input, caller);
      const made = this.newRequests.of(caller, model, checked, optionsOf(batch), batch.baseUrl ?? '');
      // The batch has its own time, and cancels what still waits then.
      return { ...line, request: { ...made, expiresMs: null }, refused: null };
    } catch (error) {
      if (!(error instanceof DomainError) || passing.has(error.code)) throw error;
      return { ...line, request: undefined, refused: { outcome: 'failed', error: refusedError(error) } };
    }
  }

  private async checked(model: Model, input: Buffer, { keyId }: Caller): Promise<Buffer> {
    if (input.length > model.maxInlineBytes) {
      const job = { modelId: model.id };
      return (await this.json.run('input', job, input, { caller: keyId, isAccepted: true }))[1];
    }
    const { bytes, value } = parseInputBody(input);
    assertFits(model.id, model.validate(value));
    return bytes;
  }

  /** Records as many of the lines as limits and bounds admit. */
  private async write(
    batch: LeasedBatch,
    caller: Caller,
    lines: readonly ReadLine[],
  ): Promise<{ recorded: number; waitMs: number }> {
    const { admitted, refusal: limit } = await this.gate.admitItems(caller, lines.length);
    const some = lines.slice(0, admitted);
    const requests = some.flatMap(({ request }) => request ?? []);
    let recorded: readonly ReadLine[] = [];
    const { ids, refusal: bound } = await this.submissions.submitFirst(requests, async (queries, newIds) => {
      recorded = firstOf(some, newIds.length);
      await this.record(queries, batch, recorded, newIds);
    });
    if (ids.length === 0) {
      recorded = firstOf(some, 0);
      if (recorded.length > 0) await this.record(this.database, batch, recorded, []);
    }
    advance(batch, recorded);
    const refusal = bound ?? limit;
    const waitMs =
      refusal === undefined ? 0 : (refusal.options.retryAfterSeconds ?? retryAfterSeconds) * 1_000;
    return { recorded: recorded.length, waitMs };
  }

  private record(
    queries: Queries,
    batch: LeasedBatch,
    lines: readonly ReadLine[],
    newIds: readonly string[],
  ): Promise<void> {
    let used = 0;
    const recorded = lines.map(({ customId, request, refused }, i) => ({
      line: batch.readLines + i + 1,
      customId,
      requestId: request === undefined ? null : newIds[used++]!,
      refused,
    }));
    return recordLines(queries, batch, recorded, { from: batch.readBytes, to: lines.at(-1)!.end });
  }
}

/** Returns the first of the lines, up to the first request of which there are no more than `requests` before it. */
function firstOf(lines: readonly ReadLine[], requests: number): readonly ReadLine[] {
  let left = requests;
  const end = lines.findIndex(({ request }) => request !== undefined && left-- === 0);
  return end === -1 ? lines : lines.slice(0, end);
}

function advance(batch: LeasedBatch, lines: readonly ReadLine[]): void {
  batch.readLines += lines.length;
  batch.readBytes = lines.at(-1)?.end ?? batch.readBytes;
}

const byRank = new Map<number, Priority>(priorities.map((priority) => [rank(priority), priority]));

/** The tag of its batch finds the requests of a batch in the list of the key's requests. */
function optionsOf({ id, tag, rank: own }: LeasedBatch): SubmitQuery {
  const priority = byRank.get(own);
  return Object.assign(new SubmitQuery(), { priority, tag: [`batch:${id}`, ...(tag === null ? [] : [tag])] });
}
