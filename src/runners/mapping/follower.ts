import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '../../errors/domain-error.js';
import type { Asks } from '../../json/mapped-json.js';
import { readBeginning } from '../../outgoing/answer-body.js';
import type { Call } from '../../outgoing/outgoing.js';
import { type FollowedRun, type Run, RunFailure } from '../../queue/runs/runner.js';
import { messageIn } from '../../tools/model-message.js';
import { cleanText, parseJson } from '../../tools/storable-text.js';
import { decode, readBody } from '../model-answer.js';
import type { MadeFile } from '../file-output.js';
import { breakOf, failureOf, type HttpAnswer } from '../http-failure.js';
import { endUnknown } from '../output.js';
import type { AnswerReader, FetchFile, JsonAnswer } from './answer-reader.js';
import { isCut, readEvents } from './event-stream.js';
import {
  headersFor,
  pathFor,
  rendered,
  templatesIn,
  templatesThatCancel,
  templatesThatFollow,
  valuesFor,
} from './mapped-request.js';
import type { EventTypes, FollowMapping, Mapping } from './mapping.js';
import { assertQuoted, type TemplateValues } from './templates.js';
import { broken, WatchedChunks } from './watched-chunks.js';

/** The answers of a server that does not know a run. */
const unknownStatuses = new Set([404, 410]);
/** A run is given up after so many calls in a row that failed. */
const maxMisses = 10;
/** The longest pause after a call that failed, in intervals. */
const longestPause = 10;
const callTimeoutMs = 30_000;
const maxQuotesLength = 4_096;
const maxWordsBytes = 64 * 1024;
const maxTextLength = 8_192;

/** One call of the server of a run: at the address of the run, and below `path`. */
export interface ServerCall extends Partial<Pick<Call, 'method' | 'path' | 'headers' | 'body'>> {
  contentType?: string;
  /** The kinds of answers that are asked for, unless the model's headers set others. */
  accept?: string;
  signal: AbortSignal;
}

export type SendCall = (call: ServerCall) => Promise<HttpAnswer>;

type Reader<T> = (answer: HttpAnswer) => Promise<T>;
/** An answer that came, and takes this node too long to read. */
const isUnreadable = (cause: unknown): boolean =>
  cause instanceof DomainError && cause.code !== 'unavailable';

/** What of an answer has to come within `callTimeoutMs`. */
type Prompt = 'head' | 'whole';

/** What a run needs to be followed or cancelled. */
type Followable = Pick<Run, 'requestId' | 'attempt' | 'start' | 'facts'>;

/** Returns whether the server takes the id that this service gives a run: then the run is known without an answer. */
function takesOwnId(mapping: Mapping, follow: FollowMapping): boolean {
  const isSent = templatesIn(mapping.request).some(({ hasRunId }) => hasRunId);
  return isSent && templatesThatFollow(follow).every(({ quotes }) => quotes.length === 0);
}

/** Cancels a run at its server. */
export async function cancelRun(
  how: Pick<FollowMapping, 'headers' | 'cancel'>,
  run: Followable & FollowedRun,
  send: SendCall,
): Promise<void> {
  const values = { ...(await valuesFor(run, run.address, templatesThatCancel(how))), answer: run.answer };
  for (const { method, url, body } of how.cancel) {
    const answer = await send({
      method,
      path: pathFor(url, values),
      headers: headersFor(how, values),
      ...(body !== undefined && {
        body: JSON.stringify(rendered(body, values)),
        contentType: 'application/json',
      }),
      signal: AbortSignal.timeout(callTimeoutMs),
    });
    answer.close();
    // A refusal means that there is nothing to cancel any more.
    if (answer.status >= 500) throw new Error(`the server answered ${answer.status}`);
  }
}

/** Follows one run at a server whose first answer only promises an output. */
export class Follower {
  private values!: TemplateValues;
  private log = '';

  constructor(
    private readonly run: Run,
    private readonly mapping: Mapping,
    private readonly follow: FollowMapping,
    private readonly address: string,
    private readonly reader: AnswerReader,
    private readonly send: SendCall,
  ) {}

  /**
   * Begins the run at the server, unless an earlier run of the same attempt did, and returns its output. `begin` sends
   * the request, and returns the first answer.
   */
  async output(begin: (start: number) => Promise<HttpAnswer>): Promise<string | Buffer> {
    const { run, mapping, follow } = this;
    const { requestId, attempt, followed } = run;
    // The id of the run stays that of the start that sent it.
    const start = followed?.start ?? run.start;
    const begun = { requestId, attempt, start, facts: () => run.facts() };
    this.values = await valuesFor(begun, this.address, templatesThatFollow(follow));
    if (follow.events !== undefined)
      return this.untilEvent(follow.events, await this.promised(await begin(start)));
    let answer = followed?.answer ?? null;
    const isSent = followed !== undefined && (answer !== null || (await this.isKnown()));
    if (!isSent) {
      const hasOwnId = takesOwnId(mapping, follow);
      // From here on, a node that takes over the run asks the server before it sends the run again.
      if (hasOwnId && followed === undefined) await run.keepFollowed(null);
      answer = await this.promised(await begin(start));
      if (!hasOwnId) await run.keepFollowed(answer);
    }
    this.values = { ...this.values, answer };
    return this.untilDone();
  }

  /** Reads the first answer and returns what the templates quote of it. */
  private async promised(answer: HttpAnswer): Promise<FollowedRun['answer']> {
    try {
      const templates = templatesThatFollow(this.follow);
      const said = await this.read(answer, {
        values: { error: this.mapping.response.error },
        quotes: templates.flatMap(({ quotes }) => quotes),
      });
      const fault = said?.values.error;
      if (fault !== undefined) throw failure(fault);
      const quotes = said?.quotes ?? {};
      assertQuoted(templates, quotes);
      if (JSON.stringify(quotes).length <= maxQuotesLength) return quotes;
      throw new RunFailure(
        `What "follow" quotes of the model's first answer is longer than ${maxQuotesLength} characters.`,
      );
    } finally {
      answer.close();
    }
  }

  /** Asks once whether the server knows a run that was sent, and perhaps not received. */
  private async isKnown(): Promise<boolean> {
    try {
      await this.once(this.pathOf('url'), async (answer) => this.bytesOf(answer), 'whole');
      return true;
    } catch (error) {
      if (error instanceof UnknownRun) return false;
      throw error;
    }
  }

  /**
   * Reads the stream of a run until an event ends it. The run belongs to the connection: its server gives it up when the
   * stream closes, so it is asked for once, and no other node follows it.
   */
  private async untilEvent(types: EventTypes, answer: FollowedRun['answer']): Promise<string | Buffer> {
    this.values = { ...this.values, answer };
    return this.once(this.pathOf('url'), async ({ chunks }) => {
      const watched = new WatchedChunks(chunks, this.mapping.idleTimeoutMs);
      for await (const events of readEvents(watched, this.reader.maxBytes))
        for (const event of events) {
          const { type = 'message', data } = event;
          if (isCut(event)) continue;
          if (types.failed.includes(type)) {
            const json = parseJson(data);
            throw failure(json === undefined ? data : json.value);
          }
          if (types.done.includes(type)) return this.outputIn(data);
        }
      throw broken(types.done[0]);
    });
  }

  private async outputIn(data: string): Promise<string | Buffer> {
    const said = await this.reader.read(Buffer.from(data), { values: {}, output: this.outputAsk });
    if (said === undefined) throw new RunFailure("The model's output cannot be read as JSON.");
    return this.withFiles(said);
  }

  private async untilDone(): Promise<string | Buffer> {
    const { run, follow } = this;
    const { done, failed, error, log, progress, result } = follow;
    const asks = {
      values: { done, failed, error, log, progress },
      output: result === undefined ? this.outputAsk : undefined,
      outputWith: 'done',
    };
    for (;;) {
      const said = await this.ask(this.pathOf('url'), (answer) => this.read(answer, asks), 'whole');
      if (said === undefined) throw new RunFailure('The model says how its run goes, but not in JSON.');
      const { values } = said;
      if (typeof values.progress === 'number') run.progress(values.progress);
      this.addLog(values.log);
      // An error is that of a failure only once the run has failed, if the server shows that.
      const fault = failed.length > 0 ? values.failed : values.error;
      if (fault !== undefined) throw failure(values.error ?? (await this.words()));
      if (values.done !== undefined) return this.result(said);
      await delay(follow.everyMs, undefined, { signal: run.signal });
    }
  }

  /** A log that grows is continued. */
  private addLog(text: unknown): void {
    if (typeof text !== 'string' || text === this.log) return;
    const more = text.startsWith(this.log) ? text.slice(this.log.length).trim() : text.trim();
    this.log = text;
    if (more !== '') this.run.log('INFO', more.slice(-maxTextLength));
  }

  /** Returns the server's message about a run that failed, if it is where the output would be. */
  private async words(): Promise<unknown> {
    if (this.follow.result === undefined) return undefined;
    try {
      const signal = AbortSignal.any([this.run.signal, AbortSignal.timeout(callTimeoutMs)]);
      const answer = await this.call(this.pathOf('result'), signal);
      const text = (await readBeginning(answer.chunks, maxWordsBytes)).toString('utf8');
      answer.close();
      return parseJson(text)?.value ?? text;
    } catch (error) {
      // The run has failed, whatever this call does.
      if (this.run.signal.aborted) throw error;
      return undefined;
    }
  }

  private async result(said: JsonAnswer): Promise<string | Buffer> {
    if (this.follow.result === undefined) return this.withFiles(said);
    return this.ask(this.pathOf('result'), (answer) => this.readResult(answer), 'head');
  }

  private async readResult(answer: HttpAnswer): Promise<string | Buffer> {
    const contentType = answer.headers['content-type'] ?? '';
    const type = contentType.toLowerCase().split(';')[0]!.trim();
    if (type !== '' && !/^text\/|json$/.test(type)) {
      if (!answer.hasOwnEnd) throw endUnknown();
      return JSON.stringify(await this.reader.keep(answer.chunks, contentType));
    }
    const bytes = await this.bytesOf(answer);
    const asks = { values: {}, output: this.outputAsk };
    const isCalledJson = type.endsWith('json');
    // An object that is called a text has the wrong type. The thread takes the bytes that it is given.
    const json =
      isCalledJson || /^\s*\{/.test(bytes.subarray(0, 1_000).toString('latin1'))
        ? await this.reader.read(Buffer.from(bytes), asks)
        : undefined;
    if (!answer.hasOwnEnd && json?.showsItsEnd !== true) throw endUnknown();
    if (json !== undefined) return this.withFiles(json);
    if (isCalledJson) throw new RunFailure("The model's output cannot be read as JSON.");
    const text = Buffer.from(JSON.stringify(decode(bytes)));
    return this.withFiles((await this.reader.read(text, asks))!);
  }

  private get outputAsk(): Asks['output'] {
    const { output, files } = this.follow;
    const asked = files.map(({ url, ...file }) => ({ ...file, quotes: url?.quotes }));
    return { paths: output, files: asked, address: this.address };
  }

  /** Stores the files of an output and puts their URLs in their places. */
  private withFiles({ output, bytes }: JsonAnswer): Promise<string | Buffer> {
    if (output === undefined)
      throw new RunFailure('The model\'s answer has no output at the path of "output".');
    return this.reader.whole(output, bytes, (file) => this.fetchFile(this.pathOfFile(file)));
  }

  private pathOfFile(file: Parameters<FetchFile>[0]): string {
    if ('path' in file) return file.path;
    return pathFor(this.follow.files[file.ask]!.url!, { ...this.values, answer: file.quotes });
  }

  private fetchFile(path: string): Promise<MadeFile> {
    const receive: Reader<MadeFile> = async ({ headers, hasOwnEnd, chunks }) => {
      if (!hasOwnEnd) throw endUnknown();
      const type = headers['content-type'] ?? 'application/octet-stream';
      return this.reader.receive(chunks, type);
    };
    return this.ask(path, receive, 'head');
  }

  /** Returns the parts of an answer. undefined: it is not JSON. */
  private async read(answer: HttpAnswer, asks: Asks): Promise<JsonAnswer | undefined> {
    const said = await this.reader.read(await this.bytesOf(answer), asks);
    if (!answer.hasOwnEnd && said?.showsItsEnd !== true) throw endUnknown();
    return said;
  }

  private bytesOf({ chunks }: HttpAnswer): Promise<Buffer> {
    return readBody(chunks, this.reader.maxBytes);
  }

  private pathOf(name: 'url' | 'result'): string {
    return pathFor(this.follow[name]!, this.values);
  }

  /** Calls the server until it answers. */
  private async ask<T>(path: string, read: Reader<T>, prompt: Prompt): Promise<T> {
    const { run, follow } = this;
    for (let misses = 1; ; misses++) {
      try {
        return await this.once(path, read, prompt);
      } catch (error) {
        const isMiss =
          error instanceof RunFailure &&
          error.options.retryable &&
          !(error instanceof UnknownRun) &&
          !isUnreadable(error.cause);
        if (!isMiss || run.signal.aborted) throw error;
        // The server already has the run, so the outage is costly, and not only an address that is away.
        if (misses >= maxMisses) throw new RunFailure(error.message, { ...error.options, outage: 'costly' });
      }
      await delay(follow.everyMs * Math.min(2 ** (misses - 1), longestPause), undefined, {
        signal: run.signal,
      });
    }
  }

  /** Without `prompt`, only the run's own timeout holds. */
  private async once<T>(path: string, read: Reader<T>, prompt?: Prompt): Promise<T> {
    const { signal } = this.run;
    const silence = new AbortController();
    const timer = prompt && setTimeout(() => silence.abort(), callTimeoutMs);
    try {
      const answer = await this.call(path, AbortSignal.any([signal, silence.signal]));
      if (prompt === 'head') clearTimeout(timer);
      try {
        const { status } = answer;
        if (unknownStatuses.has(status)) throw new UnknownRun(status);
        if (status === 200) return await read(answer);
        const failed = await failureOf(answer);
        // Any 5xx may be that of a proxy, and the server may still have the run.
        throw status < 500 ? failed : new RunFailure(failed.message, { ...failed.options, retryable: true });
      } finally {
        answer.close();
      }
    } catch (error) {
      if (!silence.signal.aborted || signal.aborted) throw breakOf(error, signal);
      const message = `The model did not answer within ${callTimeoutMs / 1_000} s.`;
      throw new RunFailure(message, { code: 'model_unavailable', retryable: true, outage: 'costly' });
    } finally {
      clearTimeout(timer);
    }
  }

  private call(path: string, signal: AbortSignal): Promise<HttpAnswer> {
    const { method } = this.follow;
    return this.send({ method, path, headers: headersFor(this.follow, this.values), signal });
  }
}

/** The server does not know the run. */
class UnknownRun extends RunFailure {
  constructor(status: number) {
    super(`The model no longer knows the run that it had accepted: it answered ${status}.`, {
      retryable: true,
    });
  }
}

function failure(said: unknown): RunFailure {
  const message = typeof said === 'string' ? cleanText(said, maxTextLength) : messageIn(said);
  return new RunFailure(message ?? 'The model reports that its run failed, without a message.');
}
