import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { NewRequests } from '../requests/new-requests.js';
import { cleanText, isStorable } from '../tools/storable-text.js';
import type { LineFault } from './batch.js';
import { isOfLine } from './batch-errors.js';
import { BatchInput, InputLost } from './batch-input.js';
import type { InputLine } from './line-formats.js';
import { LineReader } from './line-reader.js';
import { LineTooLong } from './text-lines.js';
import type { LeasedBatch } from './queries/drive.js';

const maxLines = 200_000;
const maxFaults = 100;
const maxCustomIdLength = 512;
/** A message may quote its line, and a hundred of them are stored with the batch. */
const maxMessageLength = 500;
/** Milliseconds of work on lines before other calls get a turn. */
export const maxSliceMs = 10;

/** The lines of an input, or what keeps the batch from starting. */
export type Validated = { total: number } | { faults: readonly LineFault[] };

/** Checks the whole input of a batch before anything of it is submitted. */
@Injectable()
export class BatchValidation {
  constructor(
    private readonly config: Config,
    private readonly input: BatchInput,
    private readonly lines: LineReader,
    private readonly newRequests: NewRequests,
  ) {}

  /** `signal`: the batch is not this node's any more, or the node stops. */
  async run(batch: LeasedBatch, caller: Caller, signal: AbortSignal): Promise<Validated> {
    const faults: LineFault[] = [];
    const known = new KnownIds();
    const models = new Map<string, DomainError | undefined>();
    let total = 0;
    let since = performance.now();
    // Only here: if MAX_BODY_BYTES is lowered later, the lines of an open batch must still be readable.
    const maxBytes = this.config.maxBodyBytes;
    try {
      for await (const { bytes, number } of this.input.lines(batch.inputFileId, 0, signal, maxBytes)) {
        try {
          if (++total > maxLines)
            throw new DomainError('too_large', `A batch may have ${maxLines} lines at most.`);
          const line = await this.lines.read(bytes, batch);
          const first = known.add(line, number);
          if (first === undefined) this.checkModel(caller, line.modelId ?? batch.modelId, models);
          else faults.push(duplicate(number, first));
        } catch (error) {
          faults.push(faultOf(error, number));
        }
        if (faults.length === maxFaults || total > maxLines) break;
        if (performance.now() - since < maxSliceMs) continue;
        signal.throwIfAborted();
        await nextTurn();
        since = performance.now();
      }
    } catch (error) {
      if (error instanceof InputLost) return { faults: [faultOf(error, null)] };
      if (!(error instanceof LineTooLong)) throw error;
      faults.push(faultOf(error, error.line));
    }
    if (total === 0 && faults.length === 0)
      faults.push({ line: null, code: 'bad_request', message: 'The file has no lines.' });
    return faults.length > 0 ? { faults } : { total };
  }

  /** The answer is the same for all lines that name the model, so it is looked up once. */
  private checkModel(
    caller: Caller,
    name: string | null,
    models: Map<string, DomainError | undefined>,
  ): void {
    if (name === null)
      throw new DomainError('bad_request', 'The line names no model, and the batch has none either.');
    if (!models.has(name)) models.set(name, this.refusalOf(caller, name));
    const refusal = models.get(name);
    if (refusal !== undefined) throw refusal;
  }

  private refusalOf(caller: Caller, name: string): DomainError | undefined {
    try {
      this.newRequests.modelNamed(caller, name);
      return undefined;
    } catch (error) {
      if (error instanceof DomainError) return error;
      throw error;
    }
  }
}

function faultOf(error: unknown, line: number | null): LineFault {
  if (!isOfLine(error)) throw error;
  return { line, code: error.code, message: cleanText(error.message, maxMessageLength) };
}

const duplicate = (line: number, first: number): LineFault => ({
  line,
  code: 'duplicate_custom_id',
  message: `Line ${first} has the same "custom_id". Each line needs its own.`,
});

/** The ids of lines that were read, as hashes of 16 bytes: the ids themselves may be long. */
class KnownIds {
  private readonly hashes = new Map<string, number>();

  /** Returns the number of the line that had the id before. */
  add({ customId }: InputLine, number: number): number | undefined {
    if (customId.length < 1 || customId.length > maxCustomIdLength || !isStorable(customId)) {
      const detail = `A "custom_id" takes 1 to ${maxCustomIdLength} characters, without NUL.`;
      throw new DomainError('bad_request', detail);
    }
    const hash = createHash('md5').update(customId).digest().toString('latin1');
    const first = this.hashes.get(hash);
    if (first === undefined) this.hashes.set(hash, number);
    return first;
  }
}
