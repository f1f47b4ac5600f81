import { validateHeaderName, validateHeaderValue } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { parseUrl } from '../config/parsers.js';
import { Files } from '../files/files.js';
import { JsonThreads } from '../json/json-threads.js';
import type { Model } from '../models/model.js';
import { Duration, type HealthCheck, RunnerOptions } from '../models/runner-kind.js';
import { type Chunks, readBeginning } from '../outgoing/answer-body.js';
import { CallFailure } from '../outgoing/call-failure.js';
import { type Call, Outgoing } from '../outgoing/outgoing.js';
import { type Outage, type RequestFacts, type Run, RunFailure, type Runner } from '../queue/runs/runner.js';
import { linesTypes } from '../tools/lines-types.js';
import { passwordsOf } from '../tools/redaction.js';
import { parseJson } from '../tools/storable-text.js';
import { EntryFault, Parsed } from '../tools/validation.js';
import type { TraceContext } from '../tracing/trace-context.js';
import { codeOf, type Ending, Tracing } from '../tracing/tracing.js';
import { decode, readBody } from './model-answer.js';
import { keepOutput } from './file-output.js';
import { breakOf, failureOf, type HttpAnswer, retryAfterOf } from './http-failure.js';
import type { JsonObject } from '../json/assemblers.js';
import { AnswerReader } from './mapping/answer-reader.js';
import { cancelRun, Follower, type SendCall, type ServerCall } from './mapping/follower.js';
import { MappedAnswer } from './mapping/mapped-answer.js';
import {
  bodyFor,
  headersFor,
  pathFor,
  type RequestBody,
  templatesIn,
  valuesFor,
} from './mapping/mapped-request.js';
import {
  checkAttach,
  checkFollow,
  checkHealth,
  checkPreset,
  checkRequest,
  checkResponse,
  checkStatuses,
  type Mapping,
  mappingOf,
  type PlainMapping,
  presetFor,
} from './mapping/mapping.js';
import { WatchedChunks } from './mapping/watched-chunks.js';
import { firstAt } from '../json/paths.js';
import { endUnknown, readJsonOutput, readNdjsonOutput } from './output.js';

const maxTextLength = 8_192;
/** Header fields and query parameters whose values are secrets. */
const secretName = /auth|key|token|secret|cookie|credential|password|signature/i;
const maxAddresses = 64;
const accept =
  'application/json, application/x-ndjson, text/plain;q=0.8, image/*;q=0.8, audio/*;q=0.8, video/*;q=0.8, */*;q=0.7';
/** An event stream can be read only by a mapping, and some servers stream to every client that accepts it. */
const acceptStreams = `text/event-stream;q=0.9, ${accept}`;

class HttpRunnerOptions extends RunnerOptions {
  @Parsed(readUrl)
  url: string | undefined;

  @Parsed(readUrls)
  urls: readonly string[] | undefined;

  /** Headers by lower-case name. */
  @Parsed(readHeaders) headers: Readonly<Record<string, string>> = {};

  /** The mapping of the server's API; undefined: it takes the input and answers with the output. */
  @Parsed(checkPreset) preset: string | undefined;
  @Parsed(checkRequest) request: JsonObject | undefined;
  @Parsed(checkResponse) response: JsonObject | undefined;
  @Parsed(checkFollow) follow: JsonObject | undefined;
  @Parsed(checkAttach) attach: JsonObject | undefined;
  @Parsed(checkStatuses) busy: readonly number[] | undefined;
  @Parsed(checkStatuses) away: readonly number[] | undefined;
  @Parsed(checkHealth) health: JsonObject | 'off' | undefined;
  @Duration('1d') idle_timeout: number | undefined;

  override presetName(): string | null {
    return this.preset ?? null;
  }

  override addresses(): readonly string[] {
    return this.urls ?? [this.url!];
  }

  override secrets(): readonly string[] {
    const passwords = this.addresses().flatMap(passwordsOf);
    const texts = [this.request, this.follow, this.attach, this.health].flatMap((option) => textsIn(option));
    const urls = [
      ...this.addresses(),
      ...texts.flatMap(([name, text]) => (/^(?:url|result)$/.test(name) ? text : [])),
    ];
    const named = [...Object.entries(this.headers), ...urls.flatMap(parametersOf), ...texts].filter(
      ([name]) => secretName.test(name),
    );
    // The token of "Bearer <token>".
    return [...passwords, ...named.flatMap(([, text]) => text.split(' '))];
  }

  override get follows(): boolean {
    const { follow, attach } = mappingFor(this, this.addresses()) ?? {};
    // A run whose events are read ends with its connection.
    return attach !== undefined || (follow !== undefined && follow.events === undefined);
  }

  override get mayBeginAnew(): boolean {
    return mappingFor(this, this.addresses())?.attach !== undefined;
  }

  override get healthCheck(): HealthCheck | undefined {
    return mappingFor(this, this.addresses())?.health;
  }

  override fault(): string | undefined {
    if (this.url === undefined && this.urls === undefined) return '"url" or "urls" is missing';
    if (this.url !== undefined && this.urls !== undefined) return 'expected "url" or "urls", not both';
    try {
      mappingFor(this, this.addresses());
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
}

type MappingOptions = PlainMapping & { preset?: string | undefined };

/** Mappings by the options that they were compiled from. */
const compiled = new WeakMap<object, Mapping>();

/** Returns the mapping of a model. undefined: it has none. */
function mappingFor(options: MappingOptions, addresses: readonly string[]): Mapping | undefined {
  const known = compiled.get(options);
  if (known !== undefined) return known;
  const { preset, request, response, follow, attach, busy, away, health, idle_timeout } = options;
  const plain = { request, response, follow, attach, busy, away, health, idle_timeout };
  if (preset === undefined && Object.values(plain).every((option) => option === undefined)) return undefined;
  const mapping = mappingOf(plain, preset === undefined ? {} : presetFor(preset, addresses));
  if (mapping.attach !== undefined && mapping.follow !== undefined)
    throw new Error('expected "follow" or "attach", not both');
  if (mapping.attach !== undefined && !templatesIn(mapping.request).some(({ hasRunId }) => hasRunId))
    throw new Error('"attach" needs {run_id} in "request", such as url: \'{url}/{run_id}\'');
  compiled.set(options, mapping);
  return mapping;
}

/** Returns the parameters in the query of a URL, or of a template for one. */
function parametersOf(url: string): [name: string, text: string][] {
  const at = url.indexOf('?');
  return at === -1 ? [] : [...new URLSearchParams(url.slice(at).replace(/#.*$/s, ''))];
}

/** Returns the names and texts of all members of a mapping's request, however deep. */
function textsIn(value: unknown, name = ''): [name: string, text: string][] {
  if (typeof value === 'string') return [[name, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, one]) => textsIn(one, Array.isArray(value) ? name : member));
}

/** Runs a request with one call of a model server. */
@Injectable()
export class HttpRunner implements Runner {
  static readonly kind = 'http';
  static readonly Options = HttpRunnerOptions;

  /** Time limit for TCP and TLS. The run's own timeout covers the rest. */
  connectTimeoutMs = 10_000;

  /** A POST that arrives twice might cause a second run. */
  readonly outgoing = new Outgoing({ mayRepeat: false });

  constructor(
    private readonly config: Config,
    private readonly tracing: Tracing,
    private readonly files: Files,
    private readonly threads: JsonThreads,
  ) {}

  async run(run: Run): Promise<string | Buffer | undefined> {
    const options = run.model.runner as HttpRunnerOptions;
    const url = run.address ?? options.url!;
    const mapping = mappingFor(options, [url]);
    const call = this.tracing.call(url, run.trace);
    const ending: Ending = { attributes: {} };
    let isConnected = false;
    const onConnected = (): void => {
      if (!isConnected) run.reached();
      isConnected = true;
    };
    /** Infinity: the input has not been sent to its end. */
    let sentAt = Infinity;
    const onSent = (): void => {
      sentAt = performance.now();
    };
    const send: SendCall = async (one) => {
      const answer = await this.send(url, options.headers, run, {
        ...one,
        traced: call.context,
        onConnected,
        onSent,
      });
      ending.attributes = { 'http.response.status_code': answer.status };
      return answer;
    };
    const accepted = async (start: number): Promise<HttpAnswer> => {
      const answer = await this.begin(run, start, url, mapping, send);
      const { status } = answer;
      if (mapping?.follow !== undefined ? promises.has(status) : status === 200) return answer;
      try {
        const isPrompt = performance.now() - sentAt <= promptMs;
        throw await failureOf(answer, mapping && outageBy(mapping, status, isPrompt), isPrompt);
      } finally {
        answer.close();
      }
    };
    const begin = async (start: number): Promise<HttpAnswer> => {
      try {
        return await accepted(start);
      } catch (thrown) {
        const error = breakOf(thrown, run.signal);
        const isFree = error instanceof RunFailure && error.options.outage === 'free';
        // A run of a model with `attach` may continue, although its server cannot be asked now.
        const isNew =
          mapping?.follow !== undefined || (mapping?.attach !== undefined && run.followed === undefined);
        if (isFree && isNew) await run.forgetFollowed();
        throw error;
      }
    };
    try {
      const reader = new AnswerReader(run, this.files, this.threads, this.config.maxOutputBytes);
      if (mapping?.follow !== undefined)
        return await new Follower(run, mapping, mapping.follow, url, reader, send).output(begin);
      if (mapping?.attach !== undefined && run.followed === undefined) await run.keepFollowed(null);
      const answer = await begin(run.followed?.start ?? run.start);
      try {
        return await this.read(answer, run, mapping, reader);
      } catch (error) {
        // The server gave up the run of a lost node. The next start begins another one, whose failure counts.
        if (error instanceof RunFailure && error.options.outage === 'free') await run.forgetFollowed();
        throw error;
      } finally {
        answer.close();
      }
    } catch (thrown) {
      const error = breakOf(thrown, run.signal);
      ending.error = run.signal.aborted ? String(run.signal.reason) : codeOf(error);
      throw error;
    } finally {
      call.end(ending);
    }
  }

  async cancel(run: Parameters<NonNullable<Runner['cancel']>>[0]): Promise<void> {
    const options = run.model.runner as HttpRunnerOptions;
    const mapping = mappingFor(options, [run.address]);
    const how = mapping?.follow ?? mapping?.attach;
    if (how === undefined) return;
    await cancelRun(how, run, (one) => this.send(run.address, options.headers, run, one));
  }

  /** Sends a request, again with the next value of `accept` while the server answers that it cannot give that. */
  private async begin(
    run: Run,
    start: number,
    url: string,
    mapping: Mapping | undefined,
    send: SendCall,
  ): Promise<HttpAnswer> {
    const { fault, ...request } = await this.requestFor(run, start, url, mapping);
    const [first, ...others] = mapping?.request.accept ?? [
      mapping?.readsStreams === true ? acceptStreams : accept,
    ];
    const ask = async (kind: string): Promise<HttpAnswer> => {
      try {
        return await send({ ...request, accept: kind, signal: run.signal });
      } catch (error) {
        // The connection was closed here, because the rest of the input was missing.
        throw fault?.() ?? error;
      }
    };
    let answer = await ask(first!);
    for (const kind of others) {
      if (answer.status !== 406) break;
      answer.close();
      answer = await ask(kind);
    }
    return answer;
  }

  async checkHealth({ runner }: Model, address: string, stop: AbortSignal): Promise<void> {
    const options = runner as HttpRunnerOptions;
    const { path, ready } = mappingFor(options, [address])!.health!;
    const timeout = AbortSignal.timeout(healthTimeoutMs);
    try {
      const { body, ...answer } = await this.outgoing.call({
        url: address,
        path,
        method: 'GET',
        body: '',
        connectTimeoutMs: this.connectTimeoutMs,
        headers: { accept: 'application/json, */*;q=0.8', 'user-agent': 'nowserving', ...options.headers },
        signal: AbortSignal.any([timeout, stop]),
      });
      try {
        const { status, headers } = answer;
        if (status !== 200) {
          const retryAfterMs = retryAfterOf(headers);
          throw unhealthy(`was answered with ${status}`, retryAfterMs === undefined ? {} : { retryAfterMs });
        }
        if (ready.length === 0) return;
        const words = await readBeginning(body, maxHealthBytes);
        const found = firstAt(ready, parseJson(words.toString('utf8'))?.value ?? null);
        if (found === undefined) throw unhealthy('says that it is not ready');
      } finally {
        answer.close();
      }
    } catch (error) {
      if (timeout.aborted) throw unhealthy(`had no answer within ${healthTimeoutMs / 1_000} s`);
      throw breakOf(error, stop);
    }
  }

  private async send(
    url: string,
    headers: HttpRunnerOptions['headers'],
    run: Pick<Run, 'requestId' | 'attempt'>,
    call: ServerCall & { traced?: TraceContext } & Pick<Call, 'onConnected' | 'onSent'>,
  ): Promise<HttpAnswer> {
    const { method = 'GET', path, body, signal, contentType, traced, onConnected, onSent } = call;
    const { body: received, ...answer } = await this.outgoing.call({
      url,
      path,
      method,
      signal,
      connectTimeoutMs: this.connectTimeoutMs,
      body: body ?? '',
      headers: {
        accept: call.accept ?? accept,
        'user-agent': 'nowserving',
        ...headers,
        ...call.headers,
        ...ownHeaders(run, contentType),
        ...traced,
      },
      ...(onConnected && { onConnected }),
      ...(onSent && { onSent }),
    });
    const encoding = answer.headers['content-encoding'] ?? 'identity';
    return { ...answer, chunks: /^(?:identity)?$/i.test(encoding) ? chunksOf(received) : compressed };
  }

  /** Returns what is sent for a run, by the mapping of its model. */
  private async requestFor(
    run: Run,
    start: number,
    url: string,
    mapping: Mapping | undefined,
  ): Promise<Omit<ServerCall, 'signal'> & Pick<RequestBody, 'fault'>> {
    if (mapping === undefined) return { method: 'POST', body: run.input, contentType: 'application/json' };
    const { request } = mapping;
    const { requestId, attempt } = run;
    const facts = (): Promise<RequestFacts> => run.facts();
    const values = await valuesFor({ requestId, attempt, start, facts }, url, templatesIn(request));
    const { contentType, body, length, fault } = await bodyFor(
      run,
      request,
      values,
      this.files,
      this.threads,
    );
    const path = request.url && pathFor(request.url, values);
    const headers = {
      ...headersFor(request, values),
      ...(length !== undefined && { 'content-length': length }),
    };
    return { method: request.method, path, body, headers, contentType, ...(fault && { fault }) };
  }

  private async read(
    answer: HttpAnswer,
    run: Run,
    mapping: Mapping | undefined,
    reader: AnswerReader,
  ): Promise<string | Buffer | undefined> {
    const { headers, chunks, hasOwnEnd } = answer;
    const { maxOutputBytes } = this.config;
    const mapped = mapping?.hasResponse === true ? new MappedAnswer(run, mapping, reader) : undefined;
    const readsStreams = mapping?.readsStreams === true;
    const contentType = headers['content-type'] ?? '';
    const type = contentType.toLowerCase().split(';')[0]!.trim();
    if (linesTypes.includes(type)) {
      if (mapped !== undefined && readsStreams) return mapped.readLines(answer);
      return this.readOwnLines(answer, run, mapping, mapped);
    }
    switch (type) {
      case 'application/json':
        return mapped?.readJson(answer) ?? readJsonOutput(answer, maxOutputBytes, run, this.threads);
      case 'text/event-stream':
        if (mapped !== undefined && readsStreams) return mapped.readStream(answer);
        throw unreadable(
          mapped === undefined
            ? 'it is an event stream; set "preset" or "response" of the runner in models.yaml'
            : 'it is an event stream; set "delta", "output" or "assemble" of "response" in models.yaml',
        );
      case 'text/plain':
      // The subtitles that servers of Whisper answer.
      case 'text/vtt':
      case 'application/x-subrip':
        if (mapped !== undefined) return mapped.readText(answer);
        if (!hasOwnEnd) throw endUnknown();
        return JSON.stringify(decode(await readBody(chunks, maxOutputBytes)));
      case 'text/html': {
        // whisper.cpp calls its transcriptions HTML. A page is one of a proxy.
        if (mapped === undefined || mapping?.request.multipart === undefined) break;
        const text = await mapped.readText(answer);
        if (text === undefined || !/^"(?:\s|\\[nrt])*</.test(text.slice(0, 1_000).toString())) return text;
      }
    }
    if (type === '' || /^text\/|[/+]json$/.test(type)) {
      const got = type.slice(0, 100) || 'no content type';
      throw unreadable(
        `expected application/json, application/x-ndjson, text/plain or a file such as a picture, got ${got}`,
      );
    }
    if (!hasOwnEnd) throw endUnknown();
    return JSON.stringify(await keepOutput(this.files, run, chunks, contentType));
  }

  /** Reads lines of this service's own format. Their output is to `mapped` what a whole answer is. */
  private async readOwnLines(
    answer: HttpAnswer,
    run: Run,
    mapping: Mapping | undefined,
    mapped: MappedAnswer | undefined,
  ): Promise<string | Buffer | undefined> {
    const chunks = new WatchedChunks(answer.chunks, mapping?.idleTimeoutMs);
    const lines = { chunks, hasOwnEnd: answer.hasOwnEnd };
    const output = await readNdjsonOutput(lines, this.config.maxOutputBytes, run, this.threads);
    return output === undefined || mapped === undefined ? output : mapped.readOutput(output);
  }
}

/** Statuses of a first answer that promises an output. */
const promises = new Set([200, 201, 202]);

/** An answer that comes this soon after the end of the input is that of a proxy whose server is down. */
const promptMs = 1_000;

const healthTimeoutMs = 5_000;
const maxHealthBytes = 64 * 1024;

/** Returns the meaning of a status by the mapping. undefined: the mapping does not name the status. */
function outageBy({ busy, away }: Mapping, status: number, isPrompt: boolean): Outage | undefined {
  if (busy.includes(status)) return 'free';
  if (away?.includes(status) !== true) return undefined;
  return isPrompt ? 'free' : 'costly';
}

function unhealthy(what: string, options: { retryAfterMs?: number } = {}): RunFailure {
  return new RunFailure(`The health check of the server ${what}.`, { code: 'model_unavailable', ...options });
}

async function* chunksOf(body: Chunks): Chunks {
  try {
    yield* body;
  } catch (cause) {
    throw new CallFailure(cause, true);
  }
}

/** The chunks of an answer that is compressed. They cannot be read. */
const compressed: Chunks = {
  [Symbol.asyncIterator]: () => ({
    next: () => Promise.reject(unreadable('it is compressed, which was not requested')),
  }),
};

function unreadable(reason: string): RunFailure {
  return new RunFailure(`The model's answer cannot be read: ${reason}.`);
}

/** Headers that only the service sets. */
function ownHeaders(
  { requestId, attempt }: Pick<Run, 'requestId' | 'attempt'>,
  contentType: string | undefined,
): Record<string, string> {
  return {
    // The answer must not be compressed, because it is read as it arrives.
    'accept-encoding': 'identity',
    ...(contentType !== undefined && { 'content-type': contentType }),
    'x-request-id': requestId,
    'x-attempt': String(attempt),
  };
}

const reservedHeaders = new Set([
  ...Object.keys(ownHeaders({ requestId: '', attempt: 0 }, '')),
  'traceparent',
  'tracestate',
  // Headers of the body and the connection.
  ...'connection content-length expect keep-alive te trailer transfer-encoding upgrade'.split(' '),
]);

function readUrl(value: unknown): string {
  if (typeof value === 'string' && value.length <= maxTextLength) return parseUrl(value, 'http:', 'https:');
  throw new Error(`expected a text of at most ${maxTextLength} characters`);
}

/** A fault names the position in the list, because a URL may contain a secret. */
function readUrls(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > maxAddresses)
    throw new Error(
      `expected a list of 1 to ${maxAddresses} URLs, such as [http://gpu-1:9000/, http://gpu-2:9000/]`,
    );
  const seen = new Map<string, number>();
  return value.map((one: unknown, at) => {
    const place = `entry ${at + 1}`;
    let url: string;
    try {
      url = readUrl(one);
    } catch (error) {
      throw new Error(`${place}: ${(error as Error).message}`, { cause: error });
    }
    const { href } = new URL(url);
    if (seen.has(href)) throw new Error(`${place} is the same as entry ${seen.get(href)}`);
    seen.set(href, at + 1);
    return url;
  });
}

function readHeaders(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('expected a map of names and values');
  }
  const headers = new Map<string, string>();
  const faults: EntryFault[] = [];
  for (const [name, text] of Object.entries(value)) {
    const header = name.toLowerCase();
    const wrong = headers.has(header) ? 'appears twice' : headerFault(header, text);
    if (wrong === undefined) headers.set(header, String(text));
    else faults.push(new EntryFault(name, wrong));
  }
  if (faults.length > 0) throw new AggregateError(faults);
  return Object.fromEntries(headers);
}

function headerFault(name: string, value: unknown): string | undefined {
  if (reservedHeaders.has(name)) return 'is set by the service itself';
  if (typeof value !== 'number' && (typeof value !== 'string' || value.length > maxTextLength)) {
    return `expected a text of at most ${maxTextLength} characters`;
  }
  let fault = 'is not the name of a header';
  try {
    validateHeaderName(name);
    fault = 'contains a character that no header may contain';
    validateHeaderValue(name, String(value));
    return undefined;
  } catch {
    // Not Node's own message, because this one certainly never contains the value.
    return fault;
  }
}
