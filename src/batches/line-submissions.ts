import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Caller, priorityOf } from '../auth/caller.js';
import { Database } from '../database/database.js';
import type { Queries } from '../database/statement.js';
import type { DomainError } from '../errors/domain-error.js';
import { parseInputBody } from '../http/input/json-body.js';
import { assertFits } from '../json/jobs.js';
import { JsonThreads } from '../json/json-threads.js';
import { type EnteredItems, Gate } from '../limits/gate.js';
import type { Model } from '../models/model.js';
import { type NewRequest, Submissions } from '../queue/submit/submissions.js';
import { SubmitQuery } from '../requests/dto/submit.query.js';
import { NewRequests } from '../requests/new-requests.js';
import { endErrors, isOfLine, refusedError } from './batch-errors.js';
import { BatchInput, InputLost } from './batch-input.js';
import { LineReader } from './line-reader.js';
import type { TextLine } from './text-lines.js';
import type { LeasedBatch } from './queries/drive.js';
import { type RecordedLine, recordLines } from './queries/lines.js';
import { maxSliceMs } from './batch-validation.js';

/** Lines and bytes of one commit. */
const groupLines = 250;
const groupBytes = 1024 ** 2;
/** Lines of one commit if they become no requests. */
const refusedLines = 1_000;
/**
 * Bounds of the wait after a refusal. The wait that the refusal names may be too long: a full queue may have room
 * sooner, and the limit, the key or the model may change.
 */
const [shortestWaitMs, longestWaitMs] = [1_000, 30_000];

/** A line that was read, with its place in the input. */
interface ReadLine {
  customId: string;
  /** The place behind it. */
  end: number;
  request: NewRequest | undefined;
  refused: RecordedLine['refused'];
}

/** Continues to read the input of a batch, and records each line as a request or as refused. */
@Injectable()
export class LineSubmissions {
  constructor(
    private readonly database: Database,
    private readonly input: BatchInput,
    private readonly lines: LineReader,
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
    const read = (line: TextLine): Promise<ReadLine> => this.read(batch, caller, line);
    const atMost = (): number => Math.min(groupLines, left);
    for await (const group of this.groups(batch, read, { atMost, signal })) {
      const { recorded, waitMs } = await this.write(batch, caller, group);
      left -= recorded;
      if (waitMs > 0) return waitMs;
      if (left <= 0 || performance.now() >= untilMs) return 0;
    }
    // No line was read although some are left: the rest of the input is gone.
    if (left === room)
      await this.recordLost(batch, { outcome: 'failed', error: refusedError(new InputLost()) });
    return 0;
  }

  /** Records a group of lines as refused, because the batch ends. */
  async refuse(batch: LeasedBatch, endsAs: 'cancelled' | 'expired', signal: AbortSignal): Promise<void> {
    const refused = { outcome: endsAs, error: endErrors[endsAs] };
    const read = async ({ bytes, end }: TextLine): Promise<ReadLine> => {
      const { customId } = await this.lines.read(bytes, batch);
      return { customId, end, request: undefined, refused };
    };
    for await (const group of this.groups(batch, read, { atMost: () => refusedLines, signal })) {
      await this.record(this.database, batch, group, []);
      return advance(batch, group);
    }
    await this.recordLost(batch, refused);
  }

  /**
   * Yields the lines that are left, in groups of one commit. If a line cannot be read now, those before it are yielded
   * before the error is thrown. `atMost`: returns how many lines a group may have.
   */
  private async *groups(
    batch: LeasedBatch,
    toRead: (line: TextLine) => Promise<ReadLine>,
    { atMost, signal }: { atMost: () => number; signal: AbortSignal },
  ): AsyncGenerator<ReadLine[]> {
    let group: ReadLine[] = [];
    let bytes = 0;
    let since = performance.now();
    try {
      for await (const line of this.linesLeft(batch, signal)) {
        bytes += line.bytes.length;
        group.push(await toRead(line));
        if (group.length >= atMost() || bytes >= groupBytes) {
          yield group;
          group = [];
          bytes = 0;
        }
        if (performance.now() - since < maxSliceMs) continue;
        signal.throwIfAborted();
        await nextTurn();
        since = performance.now();
      }
    } catch (error) {
      if (group.length > 0 && !signal.aborted) yield group;
      throw error;
    }
    if (group.length > 0) yield group;
  }

  /** Yields the lines that are left in the input and can be read. */
  private async *linesLeft(
    { inputFileId, readBytes }: LeasedBatch,
    signal: AbortSignal,
  ): AsyncGenerator<TextLine> {
    try {
      yield* this.input.lines(inputFileId, readBytes, signal);
    } catch (error) {
      if (!(error instanceof InputLost)) throw error;
    }
  }

  /** Records lines that were counted and cannot be read any more. Their ids are not known, and are stored as ''. */
  private async recordLost(batch: LeasedBatch, refused: ReadLine['refused']): Promise<void> {
    const lines = Array.from({ length: Math.min(refusedLines, batch.total! - batch.readLines) }, () => ({
      customId: '',
      end: batch.readBytes,
      request: undefined,
      refused,
    }));
    await this.record(this.database, batch, lines, []);
    advance(batch, lines);
  }

  /** Turns a line into a request, or into the error that refuses it. */
  private async read(batch: LeasedBatch, caller: Caller, { bytes, end }: TextLine): Promise<ReadLine> {
    const { customId, modelId, input } = await this.lines.read(bytes, batch);
    const line = { customId, end };
    try {
      const model = this.newRequests.modelNamed(caller, modelId ?? batch.modelId ?? undefined);
      const checked = await this.checked(model, input, caller);
      const made = this.newRequests.of(caller, model, checked, optionsOf(batch), batch.baseUrl);
      // The batch has its own time, and cancels what still waits then.
      return { ...line, request: { ...made, expiresMs: null }, refused: null };
    } catch (error) {
      if (!isOfLine(error)) throw error;
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
    let recorded: readonly ReadLine[] = [];
    const limit = async (requests: number): Promise<EnteredItems> => {
      const free = firstOf(lines, requests);
      const { admitted, refusal } = await this.gate.admitItems(caller, free.length);
      recorded = free.slice(0, admitted);
      return { admitted: requestsOf(recorded).length, refusal };
    };
    const { ids, refusal } = await this.submissions.submitFirst(requestsOf(lines), limit, (queries, newIds) =>
      this.record(queries, batch, recorded, newIds),
    );
    if (ids.length === 0 && recorded.length > 0) await this.record(this.database, batch, recorded, []);
    advance(batch, recorded);
    return { recorded: recorded.length, waitMs: refusal === undefined ? 0 : waitMsOf(refusal) };
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

/** Returns the first lines: as many as have at most `requests` requests among them. */
function firstOf(lines: readonly ReadLine[], requests: number): readonly ReadLine[] {
  let left = requests;
  const end = lines.findIndex(({ request }) => request !== undefined && left-- === 0);
  return end === -1 ? lines : lines.slice(0, end);
}

const requestsOf = (lines: readonly ReadLine[]): NewRequest[] =>
  lines.flatMap(({ request }) => request ?? []);

function waitMsOf({ code, options: { retryAfterSeconds = 0 } }: DomainError): number {
  if (code === 'queue_full') return shortestWaitMs;
  return Math.min(Math.max(retryAfterSeconds * 1_000, shortestWaitMs), longestWaitMs);
}

function advance(batch: LeasedBatch, lines: readonly ReadLine[]): void {
  batch.readLines += lines.length;
  batch.readBytes = lines.at(-1)?.end ?? batch.readBytes;
}

/** Tags each request with its batch, so that the key's list of requests can be filtered by it. */
function optionsOf({ id, tag, rank }: LeasedBatch): SubmitQuery {
  const priority = priorityOf(rank);
  return Object.assign(new SubmitQuery(), { priority, tag: [`batch:${id}`, ...(tag === null ? [] : [tag])] });
}
