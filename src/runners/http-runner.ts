import { validateHeaderName, validateHeaderValue } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { parseUrl } from '../config/parsers.js';
import { Files } from '../files/files.js';
import { JsonThreads } from '../json/json-threads.js';
import { RunnerOptions } from '../models/runner-kind.js';
import type { Chunks } from '../outgoing/answer-body.js';
import { CallFailure } from '../outgoing/call-failure.js';
import { Outgoing } from '../outgoing/outgoing.js';
import { type Run, RunFailure, type Runner } from '../queue/runs/runner.js';
import { passwordsOf } from '../tools/redaction.js';
import { EntryFault, Parsed } from '../tools/validation.js';
import { codeOf, type Ending, Tracing } from '../tracing/tracing.js';
import { isFileType, keepOutput } from './file-output.js';
import { breakOf, failureOf, type HttpAnswer } from './http-failure.js';
import { endUnknown, readJsonOutput, readNdjsonOutput } from './output.js';

const maxTextLength = 8_192;
/** Header fields and query parameters whose values are secrets. */
const secretName = /auth|key|token|secret|cookie|credential|password|signature/i;
const maxAddresses = 64;

class HttpRunnerOptions extends RunnerOptions {
  @Parsed(readUrl)
  url: string | undefined;

  @Parsed(readUrls)
  urls: readonly string[] | undefined;

  /** Headers by lower-case name. */
  @Parsed(readHeaders) headers: Readonly<Record<string, string>> = {};

  override addresses(): readonly string[] {
    return this.urls ?? [this.url!];
  }

  override secrets(): readonly string[] {
    const passwords = this.addresses().flatMap(passwordsOf);
    const parameters = this.addresses().flatMap((url) => [...new URL(url).searchParams]);
    const named = [...Object.entries(this.headers), ...parameters].filter(([name]) => secretName.test(name));
    // The token of "Bearer <token>".
    return [...passwords, ...named.flatMap(([, text]) => text.split(' '))];
  }

  override fault(): string | undefined {
    if (this.url === undefined && this.urls === undefined) return '"url" or "urls" is missing';
    return this.url !== undefined && this.urls !== undefined
      ? 'expected "url" or "urls", not both'
      : undefined;
  }
}

/** Runs a request with one POST to a model server. */
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
    const { url: only, headers } = run.model.runner as HttpRunnerOptions;
    const url = run.address ?? only!;
    const call = this.tracing.call(url, run.trace);
    const accept =
      'application/json, application/x-ndjson, image/*;q=0.9, audio/*;q=0.9, video/*;q=0.9, application/octet-stream;q=0.8';
    const ending: Ending = { attributes: {} };
    try {
      const { body, ...answer } = await this.outgoing.call({
        method: 'POST',
        url,
        body: run.input,
        headers: { accept, 'user-agent': 'nowserving', ...headers, ...ownHeaders(run), ...call.context },
        connectTimeoutMs: this.connectTimeoutMs,
        onConnected: () => run.reached(),
        signal: run.signal,
      });
      ending.attributes = { 'http.response.status_code': answer.status };
      try {
        return await this.read({ ...answer, chunks: chunksOf(body) }, run);
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

  private async read(answer: HttpAnswer, run: Run): Promise<string | Buffer | undefined> {
    const { status, headers, chunks, hasOwnEnd } = answer;
    const { maxOutputBytes } = this.config;
    if (status !== 200) throw await failureOf(answer);
    const encoding = headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') throw unreadable('it is compressed, which was not requested');
    const contentType = headers['content-type'] ?? '';
    const type = contentType.toLowerCase().split(';')[0]!.trim();
    if (type === 'application/json') return readJsonOutput(answer, maxOutputBytes, run, this.threads);
    if (type === 'application/x-ndjson') return readNdjsonOutput(answer, maxOutputBytes, run, this.threads);
    if (isFileType(type)) {
      if (!hasOwnEnd) throw endUnknown();
      return JSON.stringify(await keepOutput(this.files, run, chunks, contentType));
    }
    const got = type.slice(0, 100) || 'no content type';
    throw unreadable(
      `expected application/json, application/x-ndjson, application/octet-stream, a picture, a sound or a video, got ${got}`,
    );
  }
}

async function* chunksOf(body: Chunks): Chunks {
  try {
    yield* body;
  } catch (cause) {
    throw new CallFailure(cause, true);
  }
}

function unreadable(reason: string): RunFailure {
  return new RunFailure(`The model's answer cannot be read: ${reason}.`);
}

/** Headers that only the service sets. */
function ownHeaders({ requestId, attempt }: Pick<Run, 'requestId' | 'attempt'>): Record<string, string> {
  return {
    // The answer must not be compressed, because it is read as it arrives.
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'x-request-id': requestId,
    'x-attempt': String(attempt),
  };
}

const reservedHeaders = new Set([
  ...Object.keys(ownHeaders({ requestId: '', attempt: 0 })),
  ...['traceparent', 'tracestate'],
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
