import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { problemCodes } from '../errors/problem-codes.js';
import { JsonThreads } from '../json/json-threads.js';
import type { RequestError } from '../queue/request-errors.js';
import type { Batch, SegmentKind } from './batch.js';
import { endErrors, goneError } from './batch-errors.js';
import { type LineError, LineFormats } from './line-formats.js';
import { type FinishedLine, readOutputs } from './queries/lines.js';

/** Lines, and bytes of outputs, that are read at once. */
const linesAtOnce = 64;
const bytesAtOnce = 1024 ** 2;

type OfBatch = Pick<Batch, 'id' | 'modelId' | 'metadata' | 'format'>;

/** A part of a file, and the lines in it. */
export interface Piece {
  bytes: Buffer;
  lines: readonly FinishedLine[];
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
    let left = [...lines];
    while (left.length > 0) {
      const some = left.slice(0, linesAtOnce);
      const texts = kind === 'errors' ? this.errors(batch, some) : await this.outputs(batch, some);
      const written = some.filter((line) => typeof texts.get(line) === 'string');
      left = left.filter((line) => !texts.has(line));
      if (written.length === 0) continue;
      const text = written.map((line) => `${texts.get(line)!}\n`).join('');
      yield { bytes: Buffer.from(text), lines: written };
    }
  }

  private errors(batch: OfBatch, lines: readonly FinishedLine[]): Map<FinishedLine, string> {
    const format = this.formats.find(batch.format)!;
    const texts = lines.map((line): [FinishedLine, string] => [
      line,
      format.error({ ...line, error: errorOf(line) }, batch),
    ]);
    return new Map(texts);
  }

  /** null: the output is gone. Lines that are not in the map did not fit. */
  private async outputs(
    batch: OfBatch,
    lines: readonly FinishedLine[],
  ): Promise<Map<FinishedLine, string | null>> {
    const format = this.formats.find(batch.format)!;
    const ids = lines.map(({ requestId }) => requestId!);
    const outputs = await readOutputs(this.database, ids, bytesAtOnce);
    const texts = new Map<FinishedLine, string | null>();
    for (const line of lines) {
      const requestId = line.requestId!;
      const output = outputs.get(requestId);
      if (output === undefined) continue;
      const text =
        output && format.output({ ...line, requestId, output: onOneLine(output) }, batch, this.threads);
      texts.set(line, await text);
    }
    return texts;
  }
}

function errorOf({ error, outcome, isEndedByBatch }: FinishedLine): LineError {
  if (isEndedByBatch && outcome !== 'completed' && outcome !== 'failed') return endErrors[outcome];
  if (error === null) return goneError;
  const { code, message, status, details } = JSON.parse(error) as RequestError;
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
