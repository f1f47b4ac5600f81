import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { problemCodes } from '../errors/problem-codes.js';
import { JsonThreads } from '../json/json-threads.js';
import type { RequestError } from '../queue/request-errors.js';
import type { Batch, SegmentKind } from './batch.js';
import { endErrors, goneError } from './batch-errors.js';
import { type LineError, LineFormats } from './line-formats.js';
import { type FinishedLine, readResults } from './queries/lines.js';

/** Lines, and bytes of outputs or errors, that are read at once. */
const linesAtOnce = 64;
const bytesAtOnce = 1024 ** 2;

type OfBatch = Pick<Batch, 'id' | 'modelId' | 'metadata' | 'format'>;

/** A part of a file, and the lines in it. */
export interface Piece {
  bytes: Buffer;
  lines: readonly FinishedLine[];
}

/** A line with the output or the error that is written for it. */
interface Result {
  line: FinishedLine;
  /** JSON text. null: it is gone. */
  json: string | null;
}

/** Writes finished lines in the format of their batch. */
@Injectable()
export class ResultLines {
  constructor(
    private readonly database: Database,
    private readonly formats: LineFormats,
    private readonly threads: JsonThreads,
  ) {}

  /** Yields the lines in pieces. A line whose output was deleted in the meantime is left out. */
  async *pieces(batch: OfBatch, kind: SegmentKind, lines: readonly FinishedLine[]): AsyncGenerator<Piece> {
    for (let from = 0; from < lines.length;) {
      const results = await this.read(kind, lines.slice(from, from + linesAtOnce));
      from += results.length;
      const written = kind === 'errors' ? results : results.filter(({ json }) => json !== null);
      if (written.length === 0) continue;
      const texts: string[] = [];
      for (const result of written) texts.push(`${await this.text(batch, kind, result)}\n`);
      yield { bytes: Buffer.from(texts.join('')), lines: written.map(({ line }) => line) };
    }
  }

  /** Reads the outputs or errors of the first lines, as many as fit. */
  private async read(kind: SegmentKind, lines: readonly FinishedLine[]): Promise<Result[]> {
    const ids = lines.flatMap(({ requestId }) => requestId ?? []);
    const found = await readResults(this.database, kind, ids, bytesAtOnce);
    const end = lines.findIndex(({ requestId }) => requestId !== null && !found.has(requestId));
    return (end === -1 ? lines : lines.slice(0, end)).map((line) => ({
      line,
      json: line.requestId === null ? line.error : found.get(line.requestId)!,
    }));
  }

  private text(batch: OfBatch, kind: SegmentKind, { line, json }: Result): string | Promise<string> {
    const format = this.formats.find(batch.format)!;
    if (kind === 'errors') return format.error({ ...line, error: errorOf(line, json) }, batch);
    const requestId = line.requestId!;
    return format.output({ ...line, requestId, output: onOneLine(json!) }, batch, this.threads);
  }
}

function errorOf({ outcome, isEndedByBatch }: FinishedLine, json: string | null): LineError {
  if (isEndedByBatch && outcome !== 'completed' && outcome !== 'failed') return endErrors[outcome];
  if (json === null) return goneError;
  const { code, message, status, details } = JSON.parse(json) as RequestError;
  const isOfModel = code === 'model_error' && status !== problemCodes.model_error.status;
  return {
    code,
    message,
    status,
    ...(isOfModel && { modelStatus: status }),
    ...(details !== undefined && { details }),
  };
}

/** A line break in JSON text is between its tokens, never in a text. */
const onOneLine = (json: string): string => json.replaceAll(/[\r\n]/g, ' ');
