import type { Files } from '../../files/files.js';
import type { Chunks } from '../../outgoing/answer-body.js';
import { CallFailure } from '../../outgoing/call-failure.js';
import { type Run, RunFailure } from '../../queue/runs/runner.js';
import { usageIn } from '../../queue/runs/usage.js';
import { cleanText, parseJson } from '../../tools/storable-text.js';
import { decode, readBody, readLines } from '../answer-body.js';
import { keepOutput } from '../file-output.js';
import type { HttpAnswer } from '../http-failure.js';
import { messageIn } from '../model-message.js';
import { endUnknown } from '../output.js';
import { type Assembler, assemblerOf, isObject } from './assemblers.js';
import { fileBytes } from './embedded-file.js';
import { readEvents } from './event-stream.js';
import type { Mapping } from './mapping.js';
import { placeFiles } from './output-files.js';
import { firstAt, valuesAt } from './paths.js';
import { broken, WatchedChunks } from './watched-chunks.js';

const maxTextLength = 8_192;
/** A longer text of a stream is several deltas. */
const deltaLength = 16_384;
const longDelta = new RegExp(`[^]{1,${deltaLength}}`, 'gu');
/** The chunks of a stream may be this many times as long as the output that they make. */
const chunkOverhead = 64;

/** Reads the answer to one run by the mapping of its model. */
export class MappedAnswer {
  private readonly assembler: Assembler | undefined;
  /** The last value at the path of the output, in a stream. */
  private output: unknown;
  private deltaBytes = 0;
  private bytes = 0;
  private hasEndMark = false;
  /** Called when the mark has come. */
  private marked: () => void = () => undefined;

  constructor(
    private readonly run: Run,
    private readonly mapping: Mapping,
    private readonly files: Files,
    private readonly maxBytes: number,
  ) {
    const { assemble } = mapping.response;
    this.assembler = assemble && assemblerOf(assemble);
  }

  /** Reads an answer that is one JSON value. */
  async readJson({ chunks, hasOwnEnd }: HttpAnswer): Promise<string> {
    const text = decode(await readBody(chunks, this.maxBytes));
    const json = parseJson(text);
    if (!hasOwnEnd && !isObject(json?.value)) throw endUnknown();
    if (json === undefined)
      throw new RunFailure("The model's answer has the type application/json, but cannot be read as JSON.");
    this.takeFacts(json.value);
    const { output: paths, files } = this.mapping.response;
    const output = paths.length > 0 ? paths.flatMap((path) => valuesAt(path, json.value))[0] : json.value;
    if (output === undefined)
      throw new RunFailure('The model\'s answer has no output at the path of "output".');
    if (paths.length === 0 && files.length === 0) return text;
    return JSON.stringify(await this.withFiles(output));
  }

  /** Reads an event stream. undefined: the deltas are the output. */
  async readStream(answer: HttpAnswer): Promise<string | undefined> {
    const { texts } = this.mapping.response.end;
    return this.readParts(answer, async (chunks) => {
      for await (const { type, data } of readEvents(chunks, this.maxBytes)) {
        if (texts.includes(data.trim())) {
          this.markEnd();
          return;
        }
        if (data === '') continue;
        const json = parseJson(data);
        if (type === 'error')
          throw this.failure(messageIn(json === undefined ? data : json.value), json?.value);
        if (json === undefined)
          throw new RunFailure("The model's stream contains an event that is not JSON.");
        this.take(json.value, data.length);
      }
    });
  }

  /** Reads lines of JSON (NDJSON). undefined: the deltas are the output. */
  async readLines(answer: HttpAnswer): Promise<string | undefined> {
    return this.readParts(answer, async (chunks) => {
      for await (const line of readLines(chunks, this.maxBytes)) {
        const text = decode(line).trim();
        if (text === '') continue;
        const json = parseJson(text);
        if (json === undefined) throw new RunFailure("The model's answer contains a line that is not JSON.");
        this.take(json.value, text.length);
      }
    });
  }

  private async readParts(
    { chunks, hasOwnEnd, close }: HttpAnswer,
    read: (chunks: Chunks) => Promise<void>,
  ): Promise<string | undefined> {
    try {
      const watched = new WatchedChunks(chunks, this.mapping.idleTimeoutMs);
      this.marked = watched.marked;
      await read(watched);
      // The end of the connection looks like a break, unless the answer has an end of its own.
      if (!this.isWhole(hasOwnEnd)) throw broken(this.mapping.response.end.texts[0]);
    } catch (error) {
      // What comes after the end mark, or does not come, is of no interest.
      if (!this.hasEnded || !isBreak(error)) throw error;
    } finally {
      close();
    }
    return this.assembled();
  }

  private get hasEnded(): boolean {
    return this.hasEndMark && this.assembler?.isComplete !== false;
  }

  private isWhole(hasOwnEnd: boolean): boolean {
    if (this.hasEnded) return true;
    const { paths, texts } = this.mapping.response.end;
    const isMarked = paths.length + texts.length > 0;
    // Some servers of OpenAI's API leave the mark out. All their choices have a finish reason then.
    return (
      hasOwnEnd &&
      (!isMarked || this.mapping.response.assemble === 'chat') &&
      this.assembler?.isComplete !== false
    );
  }

  private markEnd(): void {
    this.hasEndMark = true;
    this.marked();
  }

  /** Takes one chunk of a stream. */
  private take(chunk: unknown, length: number): void {
    this.bytes += length;
    if (this.bytes > this.maxBytes * chunkOverhead) throw this.tooLarge();
    const hadEnded = this.hasEnded;
    this.takeFacts(chunk);
    const { delta, output, end } = this.mapping.response;
    if (isObject(chunk) && (!hadEnded || isOnlyUsage(chunk))) this.assembler?.add(chunk);
    if (hadEnded) return;
    const part = firstAt(delta, chunk);
    if (part !== undefined) this.addDelta(part);
    const whole = firstAt(output, chunk);
    if (whole !== undefined) this.output = whole;
    const mark = firstAt(end.paths, chunk);
    if (mark !== undefined) this.markEnd();
  }

  private addDelta(part: unknown): void {
    const isLong = typeof part === 'string' && part.length > deltaLength;
    const texts = isLong ? part.match(longDelta)! : [part];
    for (const text of texts) {
      const json = JSON.stringify(text);
      this.deltaBytes += Buffer.byteLength(json);
      if (this.deltaBytes > this.maxBytes) throw this.tooLarge();
      this.run.delta(json);
    }
  }

  private tooLarge(): RunFailure {
    return new RunFailure(`The model's output is larger than ${this.maxBytes} bytes.`);
  }

  /** Takes what every answer and every chunk may say: a failure, a log line, the progress. */
  private takeFacts(json: unknown): void {
    const { error, log, progress, usage: used } = this.mapping.response;
    const usage = usageIn(firstAt(used, json));
    if (usage !== undefined) this.run.usage(usage);
    const fault = firstAt(error, json);
    if (fault !== undefined)
      throw this.failure(
        typeof fault === 'string' ? cleanText(fault, maxTextLength) : messageIn(fault),
        json,
      );
    const line = firstAt(log, json);
    if (typeof line === 'string') this.run.log('INFO', line.slice(0, maxTextLength));
    const value = firstAt(progress, json);
    if (typeof value === 'number') this.run.progress(value);
  }

  private failure(message: string | undefined, json: unknown): RunFailure {
    const retryable = firstAt(this.mapping.response.retryable, json) === true;
    return new RunFailure(message ?? 'The model reports an error without a message.', { retryable });
  }

  /** Returns the output of a stream. */
  private async assembled(): Promise<string | undefined> {
    const output = this.output ?? this.assembler?.output;
    if (output !== undefined) return JSON.stringify(await this.withFiles(output));
    if (this.deltaBytes > 0) return undefined;
    throw new RunFailure("The model's answer ended without an output.", { retryable: true });
  }

  /** Stores embedded files and returns the output with their URLs in their places. */
  private async withFiles(output: unknown): Promise<unknown> {
    for (const path of this.mapping.response.files)
      await placeFiles(output, path, (value) => storeEmbedded(value, this.files, this.run));
    return output;
  }
}

/** Stores the file that a value embeds, and returns its URL. undefined: it embeds none. */
export async function storeEmbedded(value: unknown, files: Files, run: Run): Promise<string | undefined> {
  const found = typeof value === 'string' ? fileBytes(value) : undefined;
  return found && (await keepOutput(files, run, [found.bytes], found.contentType)).file.url;
}

/** A chunk that comes after the last choice has ended, with the usage. */
const isOnlyUsage = ({ choices }: Record<string, unknown>): boolean =>
  Array.isArray(choices) && choices.length === 0;

function isBreak(error: unknown): boolean {
  return error instanceof CallFailure || (error instanceof RunFailure && error.options.outage === 'costly');
}
