import { Injectable } from '@nestjs/common';
import type { LineMembers, LineTerms } from '../json/batch-line.js';
import type { JsonThreads } from '../json/json-threads.js';
import type { Batch } from './batch.js';

/** A line of the input. */
export interface InputLine {
  /** What the caller calls the line, 1 to 512 characters. No two lines of a batch have the same. */
  customId: string;
  /** The id or alias of a model. undefined: the model of the batch. */
  modelId: string | undefined;
  /** The input of the model, as JSON. */
  input: Buffer;
}

/** A line whose request has succeeded. */
export interface OutputLine {
  customId: string;
  requestId: string;
  /** JSON text. It must be inserted as text, because its numbers could change if it were parsed. */
  output: string;
  completedAtMs: number;
}

/** A line without an output. */
export interface ErrorLine {
  customId: string;
  /** null: it was not submitted. */
  requestId: string | null;
  error: LineError;
}

export interface LineError {
  /** A code of `problemCodes`, or `batch_cancelled` or `batch_expired`. */
  code: string;
  message: string;
  /** The HTTP status that a call with only this line would have got. */
  status: number;
  /** The status of the model's own answer, if it refused the input. */
  modelStatus?: number;
  /** The body of the model's answer. */
  details?: unknown;
}

type OfBatch = Pick<Batch, 'id' | 'modelId' | 'metadata'>;

/** How the lines of a batch are written. */
export interface LineFormat {
  /** What is read of a line. */
  terms: LineTerms;
  /**
   * Reads the members of a line. Throws a `DomainError` if they are no line of this format, also if the input is
   * missing: the batch then fails before anything is submitted. The same members must always give the same result.
   */
  read(line: LineMembers, batch: OfBatch): Omit<InputLine, 'input'>;
  /** Returns the JSON text of a line of the output file, without a line break. `threads` read a large output. */
  output(line: OutputLine, batch: OfBatch, threads: JsonThreads): string | Promise<string>;
  /** Returns the JSON text of a line of the error file. */
  error(line: ErrorLine, batch: OfBatch): string;
  /** Returns the ids at the beginning of a line of a file. undefined: the line has no request. */
  headOf(text: string): { customId: string; requestId: string } | undefined;
  /** Returns the JSON text of the webhook for the URL that an ended batch names. Default: the service's own. */
  webhookBody?(batch: Batch): string;
}

/** The formats of lines by their names, which batches store. */
@Injectable()
export class LineFormats {
  private readonly formats = new Map<string, LineFormat>();

  /** Adapters register on every node, also where they are not served, because any node may drive a batch. */
  register(name: string, format: LineFormat): void {
    this.formats.set(name, format);
  }

  /** undefined: the batch was made by a later release, which knows more formats. */
  find(name: string): LineFormat | undefined {
    return this.formats.get(name);
  }
}
