import { setTimeout as delay } from 'node:timers/promises';
import type { Files } from '../../files/files.js';
import { readBeginning } from '../../outgoing/answer-body.js';
import type { Call } from '../../outgoing/outgoing.js';
import { type FollowedRun, type Run, RunFailure } from '../../queue/runs/runner.js';
import { cleanText, parseJson } from '../../tools/storable-text.js';
import { decode, readBody } from '../answer-body.js';
import { keepOutput } from '../file-output.js';
import { breakOf, failureOf, type HttpAnswer } from '../http-failure.js';
import { messageIn } from '../model-message.js';
import { endUnknown } from '../output.js';
import { readEvents } from './event-stream.js';
import { storeEmbedded } from './mapped-answer.js';
import {
  headersFor,
  pathFor,
  rendered,
  templatesIn,
  templatesThatFollow,
  valuesFor,
} from './mapped-request.js';
import type { EventTypes, FollowMapping, Mapping } from './mapping.js';
import { placeFiles } from './output-files.js';
import { firstAt, valuesAt } from './paths.js';
import { quotesOf, type TemplateValues } from './templates.js';
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
  signal: AbortSignal;
}

export type SendCall = (call: ServerCall) => Promise<HttpAnswer>;

type Reader<T> = (answer: HttpAnswer) => Promise<T>;

/** What a run needs to be followed or cancelled. */
type Followable = Pick<Run, 'requestId' | 'attempt' | 'start' | 'facts'>;

/** Returns whether the server takes the id that this service gives a run: then the run is known without an answer. */
function takesOwnId(mapping: Mapping, follow: FollowMapping): boolean {
  const isSent = templatesIn(mapping.request).some(({ hasRunId }) => hasRunId);
  return isSent && templatesThatFollow(follow).every(({ quotes }) => quotes.length === 0);
}

/** Cancels a run at its server. */
export async function cancelRun(
  follow: FollowMapping,
  run: Followable & FollowedRun,
  send: SendCall,
): Promise<void> {
  const values = { ...(await valuesFor(run, run.address, templatesThatFollow(follow))), answer: run.answer };
  for (const { method, url, body } of follow.cancel) {
    const answer = await send({
      method,
      path: pathFor(url, values),
      headers: headersFor(follow, values),
      ...(body !== undefined && {
        body: JSON.stringify(rendered(body, values)),
        contentType: 'application/json',
      }),
      signal: AbortSignal.timeout(callTimeoutMs),
    });
    answer.close();
    // A refusal says that there is nothing to cancel any more.
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
    private readonly files: Files,
    private readonly maxBytes: number,
    private readonly send: SendCall,
  ) {}

  /**
   * Begins the run at the server, unless an earlier run of the same attempt did, and returns its output. `begin` sends
   * the request, and returns the first answer.
   */
  async output(begin: (start: number) => Promise<HttpAnswer>): Promise<string> {
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
      // From here on a node that takes the run over asks the server before it sends it again.
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
      const json = parseJson(decode(await readBody(answer.chunks, this.maxBytes)))?.value;
      const fault = firstAt(this.mapping.response.error, json);
      if (fault !== undefined) throw failure(fault);
      const quotes = quotesOf(templatesThatFollow(this.follow), json);
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
      await this.once(this.pathOf('url'), readText(this.maxBytes), callTimeoutMs);
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
  private async untilEvent({ done, failed }: EventTypes, answer: FollowedRun['answer']): Promise<string> {
    this.values = { ...this.values, answer };
    return this.once(this.pathOf('url'), async ({ chunks }) => {
      const watched = new WatchedChunks(chunks, this.mapping.idleTimeoutMs);
      for await (const { type = 'message', data } of readEvents(watched, this.maxBytes)) {
        if (!done.includes(type) && !failed.includes(type)) continue;
        const json = parseJson(data);
        if (failed.includes(type)) throw failure(json === undefined ? data : json.value);
        if (json === undefined) throw new RunFailure("The model's output cannot be read as JSON.");
        return this.withFiles(json.value);
      }
      throw broken(done[0]);
    });
  }

  private async untilDone(): Promise<string> {
    const { run, follow } = this;
    for (;;) {
      const text = await this.ask(this.pathOf('url'), readText(this.maxBytes), callTimeoutMs);
      const json = parseJson(text)?.value;
      if (json === undefined) throw new RunFailure('The model says how its run goes, but not in JSON.');
      const progress = firstAt(follow.progress, json);
      if (typeof progress === 'number') run.progress(progress);
      this.addLog(firstAt(follow.log, json));
      const fault = firstAt(follow.error, json);
      if (fault !== undefined) throw failure(fault);
      if (firstAt(follow.failed, json) !== undefined) throw failure(await this.words());
      if (firstAt(follow.done, json) !== undefined) return this.result(json);
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

  /** Returns what the server says of a run that failed, if it says it where the output would be. */
  private async words(): Promise<unknown> {
    if (this.follow.result === undefined) return undefined;
    const answer = await this.call(this.pathOf('result'), this.run.signal);
    try {
      const text = (await readBeginning(answer.chunks, maxWordsBytes)).toString('utf8');
      return parseJson(text)?.value ?? text;
    } finally {
      answer.close();
    }
  }

  private async result(json: unknown): Promise<string> {
    if (this.follow.result === undefined) return this.withFiles(json);
    return this.ask(this.pathOf('result'), (answer) => this.readResult(answer));
  }

  private async readResult(answer: HttpAnswer): Promise<string> {
    const contentType = answer.headers['content-type'] ?? '';
    const type = contentType.toLowerCase().split(';')[0]!.trim();
    if (!/^text\/|[/+]json$/.test(type)) {
      if (!answer.hasOwnEnd) throw endUnknown();
      return JSON.stringify(await keepOutput(this.files, this.run, answer.chunks, contentType));
    }
    const text = decode(await readBody(answer.chunks, this.maxBytes));
    const json = type.endsWith('json') ? parseJson(text) : { value: text };
    if (!answer.hasOwnEnd && (typeof json?.value !== 'object' || json.value === null)) throw endUnknown();
    if (json === undefined) throw new RunFailure("The model's output cannot be read as JSON.");
    return this.withFiles(json.value);
  }

  /** Takes the output from an answer, stores its files and puts their URLs in their places. */
  private async withFiles(json: unknown): Promise<string> {
    const { output: paths, files } = this.follow;
    const output = paths.length > 0 ? paths.flatMap((path) => valuesAt(path, json))[0] : json;
    if (output === undefined)
      throw new RunFailure('The model\'s answer has no output at the path of "output".');
    for (const { path, url } of files)
      await placeFiles(output, path, (value) =>
        url === undefined
          ? this.storeFound(value)
          : this.fetchFile(pathFor(url, { ...this.values, answer: quotesOf([url], value) })),
      );
    return JSON.stringify(output);
  }

  /** Stores a file that is embedded in a text, or that is at the server. Files of other servers are not fetched. */
  private async storeFound(value: unknown): Promise<string | undefined> {
    if (typeof value !== 'string') return undefined;
    if (/^(?:https?:\/)?\//i.test(value)) {
      const { origin, pathname, search } = new URL(value, this.address);
      return origin === this.values.base ? this.fetchFile(pathname + search) : undefined;
    }
    return storeEmbedded(value, this.files, this.run);
  }

  private fetchFile(path: string): Promise<string> {
    return this.ask(path, async ({ headers, hasOwnEnd, chunks }) => {
      if (!hasOwnEnd) throw endUnknown();
      const type = headers['content-type'] ?? 'application/octet-stream';
      return (await keepOutput(this.files, this.run, chunks, type)).file.url;
    });
  }

  private pathOf(name: 'url' | 'result'): string {
    return pathFor(this.follow[name]!, this.values);
  }

  /** Calls the server until it answers. `timeoutMs`: of one call; undefined: only the run's own timeout holds. */
  private async ask<T>(path: string, read: Reader<T>, timeoutMs?: number): Promise<T> {
    const { run, follow } = this;
    for (let misses = 1; ; misses++) {
      try {
        return await this.once(path, read, timeoutMs);
      } catch (error) {
        const isMiss =
          error instanceof RunFailure && error.options.retryable && !(error instanceof UnknownRun);
        if (!isMiss || run.signal.aborted) throw error;
        // The server has the run, so its address is more than away.
        if (misses >= maxMisses) throw new RunFailure(error.message, { ...error.options, outage: 'costly' });
      }
      await delay(follow.everyMs * Math.min(2 ** (misses - 1), longestPause), undefined, {
        signal: run.signal,
      });
    }
  }

  private async once<T>(path: string, read: Reader<T>, timeoutMs?: number): Promise<T> {
    const { signal } = this.run;
    const silence = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    try {
      const answer = await this.call(
        path,
        silence === undefined ? signal : AbortSignal.any([signal, silence]),
      );
      try {
        if (unknownStatuses.has(answer.status)) throw new UnknownRun(answer.status);
        if (answer.status !== 200) throw await failureOf(answer);
        return await read(answer);
      } finally {
        answer.close();
      }
    } catch (error) {
      if (silence?.aborted !== true || signal.aborted) throw breakOf(error, signal);
      const message = `The model did not answer within ${timeoutMs! / 1_000} s.`;
      throw new RunFailure(message, { code: 'model_unavailable', retryable: true, outage: 'costly' });
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

const readText =
  (maxBytes: number): Reader<string> =>
  async ({ chunks }) =>
    decode(await readBody(chunks, maxBytes));

function failure(said: unknown): RunFailure {
  const message = typeof said === 'string' ? cleanText(said, maxTextLength) : messageIn(said);
  return new RunFailure(message ?? 'The model reports that its run failed, without a message.');
}
