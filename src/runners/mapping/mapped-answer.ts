import { isUtf8 } from 'node:buffer';
import { isObject } from '../../json/assemblers.js';
import { outputIn } from '../../json/mapped-json.js';
import { firstAt, foundAt, type Path } from '../../json/paths.js';
import { maxInlineBytes } from '../../models/input-schemas.js';
import type { Chunks } from '../../outgoing/answer-body.js';
import { CallFailure } from '../../outgoing/call-failure.js';
import { type Run, RunFailure } from '../../queue/runs/runner.js';
import { usageIn } from '../../queue/runs/usage.js';
import { messageIn } from '../../tools/model-message.js';
import { cleanText, parseJson } from '../../tools/storable-text.js';
import { decode, readBody, readLines } from '../model-answer.js';
import type { HttpAnswer } from '../http-failure.js';
import { endUnknown } from '../output.js';
import { type AnswerReader, isHeavy, type JsonAnswer } from './answer-reader.js';
import { Assembly } from './assembly.js';
import { isCut, readEvents } from './event-stream.js';
import type { Mapping, ResponseMapping } from './mapping.js';
import { broken, cut, WatchedChunks } from './watched-chunks.js';

const maxTextLength = 8_192;
/** A longer text of a stream is several deltas. */
const deltaLength = 16_384;
const longDelta = new RegExp(`[^]{1,${deltaLength}}`, 'gu');
/** A stream may be this many times as long as the output that it makes. */
const chunkOverhead = 64;

/** The parts that every answer and every chunk may have. */
const facts = ['error', 'retryable', 'log', 'progress', 'usage'] as const;
/** The parts that only a chunk of a stream may have. */
const partial = ['delta', 'end', 'output'] as const;
type Say = (name: (typeof facts)[number] | (typeof partial)[number]) => unknown;

/** Reads the answer to one run by the mapping of its model. */
export class MappedAnswer {
  private readonly assembly: Assembly | undefined;
  /** The last value at the path of the output that is not empty, in a stream, or an answer that has it. */
  private output: { value: unknown } | JsonAnswer | undefined;
  /** The first value there that is null, false or an empty text. It is the output if there is no other. */
  private emptyOutput: MappedAnswer['output'];
  private deltaBytes = 0;
  private bytes = 0;
  private hasEndMark = false;
  /** The stream has ended within a chunk of it. */
  private isCut = false;
  /** Called when the output is whole. */
  private marked: () => void = () => undefined;

  constructor(
    private readonly run: Run,
    private readonly mapping: Mapping,
    private readonly reader: AnswerReader,
  ) {
    const { assemble } = mapping.response;
    this.assembly = assemble && new Assembly(assemble, reader);
  }

  private get maxBytes(): number {
    return this.reader.maxBytes;
  }

  /** Reads an answer with the type of JSON. undefined: the deltas are the output. */
  async readJson(answer: HttpAnswer): Promise<string | Buffer | undefined> {
    const read = await this.readByLooks(await readBody(answer.chunks, this.maxBytes), answer);
    if (read !== undefined) return read.output;
    if (!answer.hasOwnEnd) throw endUnknown();
    throw new RunFailure("The model's answer has the type application/json, but cannot be read as JSON.");
  }

  /**
   * Reads an answer with the type of a text. If it is a JSON object or a stream, only its type is wrong, and it may
   * report that the run has failed. undefined: the deltas are the output.
   */
  async readText(answer: HttpAnswer): Promise<string | Buffer | undefined> {
    const bytes = await readBody(answer.chunks, this.maxBytes);
    const isText = !/^\s*\{/.test(headOf(bytes)) && kindOf(bytes) === 'value';
    // The thread takes the bytes that it is given.
    const read = isText ? undefined : await this.readByLooks(Buffer.from(bytes), answer);
    if (read !== undefined) return read.output;
    if (!answer.hasOwnEnd) throw endUnknown();
    return JSON.stringify(decode(bytes));
  }

  /** Reads a whole answer as the format that it seems to have. undefined: it is neither JSON nor a stream. */
  private async readByLooks(
    bytes: Buffer,
    answer: HttpAnswer,
  ): Promise<{ output: string | Buffer | undefined } | undefined> {
    const kind = this.mapping.response.delta.length > 0 ? kindOf(bytes) : 'value';
    const whole = { ...answer, chunks: once(bytes) };
    if (kind === 'events') return { output: await this.readStream(whole) };
    if (kind === 'lines') return { output: await this.readLines(whole) };
    const output = await this.readWhole(bytes, answer.hasOwnEnd);
    return output === undefined ? undefined : { output };
  }

  /** Reads the output of lines of this service's own format, which is JSON, as a whole answer. */
  async readOutput(output: string | Buffer): Promise<string | Buffer> {
    return (await this.readWhole(typeof output === 'string' ? Buffer.from(output) : output, true))!;
  }

  /** Returns undefined if the answer is not JSON. */
  private async readWhole(bytes: Buffer, hasOwnEnd: boolean): Promise<string | Buffer | undefined> {
    const { output: paths, files } = this.mapping.response;
    const said = await this.reader.read(bytes, { values: this.pathsOf(facts), output: { paths, files } });
    if (said === undefined) return undefined;
    if (!hasOwnEnd && !said.showsItsEnd) throw endUnknown();
    this.takeFacts((name) => said.values[name]);
    if (said.output === undefined)
      throw new RunFailure('The model\'s answer has no output at the path of "output".');
    return this.reader.whole(said.output, said.bytes);
  }

  private pathsOf(
    names: readonly (keyof ResponseMapping & Parameters<Say>[0])[],
  ): Record<string, readonly Path[]> {
    const { response } = this.mapping;
    return Object.fromEntries(
      names.map((name) => [name, name === 'end' ? response.end.paths : response[name]]),
    );
  }

  /** Reads an event stream. undefined: the deltas are the output. */
  async readStream(answer: HttpAnswer): Promise<string | Buffer | undefined> {
    const { texts } = this.mapping.response.end;
    return this.readParts(answer, async (chunks) => {
      for await (const events of readEvents(chunks, this.maxBytes))
        for (const event of events) {
          const { type, data } = event;
          if (texts.includes(data.trim())) {
            this.hasEndMark = true;
            return;
          }
          // Some servers end a stream of any kind with [DONE].
          if (data === '' || (this.hasEnded && data.trim() === '[DONE]')) continue;
          this.isCut = isCut(event);
          if (this.isCut) return;
          if (type === 'error') throw this.errorEvent(data);
          const taken = this.takeText(data);
          if (taken !== true && !(await taken))
            throw new RunFailure("The model's stream contains an event that is not JSON.");
        }
    });
  }

  /** Reads lines of JSON (NDJSON). undefined: the deltas are the output. */
  async readLines(answer: HttpAnswer): Promise<string | Buffer | undefined> {
    return this.readParts(answer, async (chunks) => {
      for await (const { bytes, mayBeCut } of readLines(chunks, this.maxBytes)) {
        const text = mayBeCut && !isUtf8(bytes) ? undefined : decode(bytes).trim();
        if (text === '' || (text !== undefined && (await this.takeText(text)))) continue;
        if (!mayBeCut) throw new RunFailure("The model's answer contains a line that is not JSON.");
        this.isCut = true;
      }
    });
  }

  private async readParts(
    { chunks, hasOwnEnd, close }: HttpAnswer,
    read: (chunks: Chunks) => Promise<void>,
  ): Promise<string | Buffer | undefined> {
    try {
      const watched = new WatchedChunks(chunks, this.mapping.idleTimeoutMs);
      this.marked = watched.marked;
      await read(this.bounded(watched));
      if (!this.isWhole(hasOwnEnd)) throw this.notWhole(hasOwnEnd);
    } catch (error) {
      // After the end mark, both further chunks and a broken connection are ignored.
      if (!this.hasEnded || !isBreak(error)) throw error;
    } finally {
      close();
    }
    return this.assembled();
  }

  /** Yields the chunks of a stream. Events and lines without output count towards its limit too. */
  private async *bounded(chunks: Chunks): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.bytes += chunk.length;
      if (this.bytes > this.maxBytes * chunkOverhead) {
        if (this.hasEnded) return;
        throw this.tooLarge();
      }
      yield chunk;
    }
  }

  private get hasEnded(): boolean {
    return this.hasEndMark && this.assembly?.isComplete !== false;
  }

  private isWhole(hasOwnEnd: boolean): boolean {
    if (this.hasEnded) return true;
    const { paths, texts } = this.mapping.response.end;
    const isMarked = paths.length + texts.length > 0;
    // Some servers of OpenAI's API leave the mark out. All their choices have a finish reason then.
    const mayLackMark = ['chat', 'transcript'].includes(this.mapping.response.assemble ?? '');
    return hasOwnEnd && !this.isCut && (!isMarked || mayLackMark) && this.assembly?.isComplete !== false;
  }

  /** Returns the failure of a stream that has ended before its output was whole. */
  private notWhole(hasOwnEnd: boolean): RunFailure {
    const { paths, texts } = this.mapping.response.end;
    const mark = texts[0] ?? paths[0]?.text;
    if (mark !== undefined && !this.hasEndMark) return broken(mark);
    // The end of the connection looks like a break.
    if (mark === undefined && !hasOwnEnd) return endUnknown();
    if (mark === undefined && this.isCut) return cut();
    // The server has reported that it is done, so it is not away.
    const how = mark === undefined ? '' : ` with its end mark (${mark})`;
    return new RunFailure(
      `The model's stream ended${how}, but a choice or its finish_reason is missing, so the answer may be incomplete.`,
      { retryable: true },
    );
  }

  /** Takes one chunk of a stream. False: it is not JSON. */
  private takeText(text: string): boolean | Promise<boolean> {
    if (isHeavy(text)) return this.takeLarge(text);
    const json = parseJson(text);
    if (json === undefined) return false;
    this.take(json.value, text);
    return true;
  }

  private async takeLarge(text: string): Promise<boolean> {
    const { output: paths, files } = this.mapping.response;
    const answer = await this.reader.read(Buffer.from(text), {
      values: this.pathsOf([...facts, ...partial]),
      output: paths.length > 0 ? { paths, files } : undefined,
    });
    if (answer === undefined) return false;
    const hadEnded = this.hasEnded;
    const say: Say = (name) => answer.values[name];
    this.takeFacts(say);
    if (hadEnded) return true;
    await this.assembly?.addLarge(inOneLine(text));
    this.takePart(text, say, answer.output && answer);
    return true;
  }

  private take(chunk: unknown, text: string): void {
    const { response } = this.mapping;
    const hadEnded = this.hasEnded;
    const say: Say = (name) => firstAt(name === 'end' ? response.end.paths : response[name], chunk);
    this.takeFacts(say);
    const isLate = hadEnded && isObject(chunk) && isOnlyUsage(chunk);
    if (isObject(chunk) && (!hadEnded || isLate)) this.assembly?.add(chunk);
    if (isLate) this.emit(text, []);
    if (hadEnded) return;
    const value = foundAt(response.output, chunk);
    this.takePart(text, say, value === undefined ? undefined : { value });
  }

  private takePart(text: string, say: Say, output: MappedAnswer['output']): void {
    if (this.assembly !== undefined && this.assembly.length > this.maxBytes) throw this.tooLarge();
    this.emit(text, this.deltasOf(say('delta')));
    if (say('output') === undefined) this.emptyOutput ??= output;
    else this.output = output;
    if (say('end') !== undefined) this.hasEndMark = true;
    if (this.hasEnded) this.marked();
  }

  private deltasOf(part: unknown): string[] {
    if (part === undefined) return [];
    const isLong = typeof part === 'string' && part.length > deltaLength;
    const deltas = (isLong ? part.match(longDelta)! : [part]).map((one) => JSON.stringify(one));
    this.deltaBytes += deltas.reduce((sum, delta) => sum + Buffer.byteLength(delta), 0);
    if (this.deltaBytes > this.maxBytes) throw this.tooLarge();
    return deltas;
  }

  /** `text`: that of a chunk. */
  private emit(text: string, deltas: readonly string[]): void {
    if (this.mapping.response.chunks) this.run.chunk(inOneLine(text), deltas);
    else for (const delta of deltas) this.run.delta(delta);
  }

  private tooLarge(): RunFailure {
    return new RunFailure(`The model's output is larger than ${this.maxBytes} bytes.`);
  }

  private takeFacts(say: Say): void {
    const used = say('usage');
    const usage = used === undefined ? undefined : usageIn(used);
    if (usage !== undefined) this.run.usage(usage);
    const fault = say('error');
    if (fault !== undefined)
      throw this.failure(
        typeof fault === 'string' ? cleanText(fault, maxTextLength) : messageIn(fault),
        say('retryable'),
      );
    const line = say('log');
    if (typeof line === 'string' && line.trim() !== '')
      this.run.log('INFO', line.trim().slice(0, maxTextLength));
    const value = say('progress');
    if (typeof value === 'number') this.run.progress(value);
  }

  private errorEvent(data: string): RunFailure {
    const json = data.length > maxInlineBytes ? undefined : parseJson(data);
    const retryable = json && firstAt(this.mapping.response.retryable, json.value);
    return this.failure(messageIn(json === undefined ? data : json.value), retryable);
  }

  private failure(
    message = 'The model reports an error without a message.',
    retryable?: unknown,
  ): RunFailure {
    if (retryable === undefined) return new RunFailure(message);
    const { run, mapping } = this;
    // The server has given up the run of a lost node, which shows nothing about the request, so the run starts again.
    if (mapping.attach !== undefined && run.followed !== undefined)
      return new RunFailure(message, { code: 'model_unavailable', retryable: true, outage: 'free' });
    return new RunFailure(message, { retryable: true });
  }

  /** Returns the output of a stream. */
  private async assembled(): Promise<string | Buffer | undefined> {
    const { files } = this.mapping.response;
    if (this.output === undefined) {
      if (this.assembly !== undefined) return this.reader.whole(...(await this.assembly.output(files)));
      if (this.deltaBytes > 0) return undefined;
    }
    const output = this.output ?? this.emptyOutput;
    if (output !== undefined) {
      if ('bytes' in output) return this.reader.whole(output.output!, output.bytes);
      const [found, bytes] = outputIn(output.value, undefined, { paths: [], files });
      return this.reader.whole(found!, bytes);
    }
    throw new RunFailure("The model's answer ended without an output.", { retryable: true });
  }
}

/** Returns a JSON text without the line breaks between its values. */
const inOneLine = (json: string): string => json.replace(/[\r\n]+/g, ' ');

const headOf = (bytes: Buffer): string => bytes.subarray(0, maxInlineBytes).toString('latin1');

/** The fields and comments before the data of a first event, which is JSON. */
const firstEvent = /^(?:(?::|event:|id:|retry:)[^\n]*\n|\r?\n)*data: ?[[{]/;

/** Returns the format that an answer seems to have, by its beginning. */
function kindOf(bytes: Buffer): 'events' | 'lines' | 'value' {
  const head = headOf(bytes);
  if (firstEvent.test(head)) return 'events';
  const end = head.indexOf('\n');
  const hasMore = end !== -1 && head.slice(end).trim() !== '';
  return hasMore && isObject(parseJson(head.slice(0, end))?.value) ? 'lines' : 'value';
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** A chunk that comes after the last choice has ended, with the usage. */
const isOnlyUsage = ({ choices }: Record<string, unknown>): boolean =>
  Array.isArray(choices) && choices.length === 0;

function isBreak(error: unknown): boolean {
  return error instanceof CallFailure || (error instanceof RunFailure && error.options.outage === 'costly');
}
