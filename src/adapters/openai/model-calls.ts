import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CallerWatch } from '../../auth/caller-watch.js';
import { Config } from '../../config/config.js';
import { DomainError } from '../../errors/domain-error.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { Files } from '../../files/files.js';
import { fileBody } from '../../files/send-file.js';
import { downloadBytes } from '../../files/stores/file-store.js';
import { Uploads, type UploadedFile } from '../../files/uploads.js';
import { chargesOf } from '../../http/charges.js';
import { ClientAddress } from '../../http/client-address.js';
import { sendReply } from '../../http/reply.js';
import { JsonThreads } from '../../json/json-threads.js';
import type { Model } from '../../models/model.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import { NewRequests } from '../../requests/new-requests.js';
import { RequestHandlers } from '../../requests/request-handlers.js';
import { toQueuedRequest } from '../../requests/status-view.js';
import { OutputStreams } from '../../stream/output-streams.js';
import type { StreamCall } from '../../stream/status-streams.js';
import { lengthOf, type SentEvent, SseWriter, type StreamEnd, streamEndErrors } from '../sse-writer.js';
import { type HeldCall, HeldCalls } from '../held-calls.js';
import { type Form, readForm } from '../multipart.js';
import { CallBodies, type CallBody, callBodyOf, notTaken, type ReadCall } from './call-body.js';
import { ChoiceChunks, type Chunks, TranscriptChunks } from './chunks.js';
import type { ModelCall } from './model-call.js';
import { wrongAt } from './openai-error.js';
import { answerText, answerTexts, type Readers } from './wire.js';

type Kind = 'chat' | 'completion' | 'embeddings' | 'images' | 'speech' | 'transcription';

/** By the kind of a call here: the calls of a server that answer it. */
const answering: Readonly<Record<Kind, readonly [string, ...string[]]>> = {
  chat: ['chat/completions'],
  completion: ['completions'],
  embeddings: ['embeddings'],
  images: ['images/generations', 'images/edits'],
  speech: ['audio/speech'],
  transcription: ['audio/transcriptions', 'audio/translations'],
};

/** Serves the calls that submit and wait, by the rules of the service's own calls. Only the wire format differs. */
@Injectable()
export class ModelCalls {
  constructor(
    private readonly held: HeldCalls,
    private readonly newRequests: NewRequests,
    private readonly requests: RequestHandlers,
    private readonly streams: OutputStreams,
    private readonly uploads: Uploads,
    private readonly files: Files,
    private readonly bodies: CallBodies,
    private readonly addresses: ClientAddress,
    private readonly threads: JsonThreads,
    private readonly config: Config,
    private readonly watch: CallerWatch,
  ) {}

  async answer(kind: Exclude<Kind, 'transcription'>, call: ModelCall): Promise<void> {
    const { asked, held } = await this.read(kind, call);
    if (asked.stream) {
      const { row } = held;
      const form = kind === 'chat' ? 'chat' : 'completion';
      const id = `${form === 'chat' ? 'chatcmpl' : 'cmpl'}-${row.id}`;
      const head = { id, created: Math.floor(row.createdAtMs / 1_000), model: asked.model };
      const { includesUsage } = asked;
      const chunks = new ChoiceChunks({ kind: form, head, includesUsage }, this.threads);
      return this.stream(call, { row, held, chunks });
    }
    if (kind === 'speech') return this.sendAny(held, call);
    const body = await this.ended(held, call, async (output) => {
      if (kind === 'images' && wantsBase64(asked)) return this.embedded(output, call);
      if (kind === 'embeddings' && asked.encodingFormat === 'base64')
        return answerText('embeddings', {}, output, this.readersFor(call));
      return output;
    });
    if (body !== undefined) sendReply(call.response, { status: 200, body });
  }

  /** Reads the body and submits. A separate method, so that a call that waits does not keep the body in memory. */
  private async read(kind: Kind, call: ModelCall): Promise<{ asked: CallBody; held: HeldCall }> {
    const read = await this.bodies.read(call);
    const { asked } = read;
    if (asked.stream && kind !== 'chat' && kind !== 'completion')
      throw notTaken('stream', 'is not served for this call');
    assertAnswers(this.newRequests.modelNamed(call.caller, asked.model), kind);
    return { asked, held: await this.begin(call, read) };
  }

  /** The input of the model is the form, with the URL of the stored file in the place of the file. */
  async transcribe(call: ModelCall): Promise<void> {
    const form = await readForm(call.request, call.response, ({ fileName = 'audio', contentType, bytes }) =>
      this.uploads.store(
        { keyId: call.caller.keyId, contentType, fileName },
        bytes as AsyncIterable<Buffer>,
        0,
        this.addresses.baseUrl(call.request),
      ),
    );
    await this.bodies.checkAgain(call);
    const { input, sameIn } = inputOf(form);
    const asked = callBodyOf(input);
    assertAnswers(this.newRequests.modelNamed(call.caller, asked.model), 'transcription');
    const body = Buffer.from(JSON.stringify(input));
    const { maxBodyBytes } = this.config;
    if (body.length > maxBodyBytes)
      throw new DomainError('body_too_large', `The fields may have ${maxBodyBytes} bytes at most, as JSON.`);
    const held = await this.begin(call, { asked, body, sameIn });
    if (asked.stream)
      return this.stream(call, { row: held.row, held, chunks: new TranscriptChunks(this.threads) });
    return this.sendAny(held, call);
  }

  /** Submits, or takes up the request of the call that this one repeats. `options`: those of the query by default. */
  async begin(
    { caller, request, response }: ModelCall,
    { asked, body, sameIn, options = request.query }: ReadCall & { options?: object },
  ): Promise<HeldCall> {
    const { headers } = request;
    const base = this.addresses.baseUrl(request);
    const held = await this.held.begin({
      adapter: 'openai',
      caller,
      modelName: asked.model,
      body,
      headers,
      options,
      base,
      response,
      isRepeated: Number(headers['x-stainless-retry-count'] ?? 0) > 0,
      sameIn,
    });
    response.setHeader('Location', toQueuedRequest(base, held.row.id).status_url);
    return held;
  }

  /**
   * Returns the answer that `made` makes of the output, which is JSON text, when the request has completed. undefined:
   * the client has disconnected.
   */
  async ended<Answer>(
    held: HeldCall,
    { request, response }: ModelCall,
    made: (output: string, row: StatusRow) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    return this.held.completed(held, async (row) => made(await this.outputOf(row, request, response), row));
  }

  private outputOf(row: StatusRow, request: Request, response: Response): Promise<string> {
    // The request has made its attempts. Without this header the client would submit it again, twice.
    if (row.error !== null) response.setHeader('X-Should-Retry', 'false');
    return this.requests.output(row, request);
  }

  /** `held`: undefined if the call does not submit, and only reads a request. */
  async stream(
    call: StreamCall,
    { row: begun, held, chunks }: { row: StatusRow; held?: HeldCall; chunks: Chunks },
  ): Promise<void> {
    const { caller, request, response } = call;
    const writer = new SseWriter(response);
    // A client without a head repeats the call after a while, and the request would continue besides the new one.
    if (chunks.failsInEvents) writer.begin();
    const how = { show: (part: string) => part, endsWithAttempt: () => chunks.hasBegun };
    const events = this.streams.events(call, begun, how);
    const end = await writer.follow(events, (part) => chunks.part(part));
    if (response.destroyed) return;
    // The next attempt would produce another output, and the client repeats no call whose stream has begun.
    if (end.kind === 'reset') held?.discard();
    if (end.kind !== 'done') return this.fail(writer, chunks, streamEndErrors[end.kind]());
    let row: StatusRow | undefined;
    const read = async (): Promise<readonly SentEvent[]> => {
      row = await this.requests.find(caller, begun.id);
      if (chunks.areOwn && row.error === null) return [];
      return chunks.rest(await this.wholeOutput(end, row, request, response), row);
    };
    try {
      const rest = await (held === undefined ? read() : held.answer(read));
      // The events of a response repeat its text.
      chargesOf(request)?.chargeAnswer(rest.reduce((sum, event) => sum + lengthOf(event), 0));
      for (const event of rest) writer.send(event);
      if (chunks.endMark !== undefined) writer.send(chunks.endMark);
      writer.end();
    } catch (error) {
      this.fail(writer, chunks, error, row);
    }
  }

  private async wholeOutput(
    { whole }: StreamEnd,
    row: StatusRow,
    request: Request,
    response: Response,
  ): Promise<string> {
    if (whole !== undefined) return whole;
    if (row.error === null || !response.headersSent) return this.outputOf(row, request, response);
    const { code, message, status, details } = row.error;
    throw new DomainError(code as ProblemCode, message, { status, details });
  }

  /** Before the first event an error is an answer of its own, unless the stream has an event for it. */
  private fail(writer: SseWriter, chunks: Chunks, error: unknown, row?: StatusRow): void {
    const isEvent = writer.hasBegun || chunks.failsInEvents;
    if (!isEvent || !(error instanceof DomainError)) throw error;
    for (const event of chunks.failed(error, row)) writer.send(event);
    writer.end();
  }

  private readersFor({ caller }: ModelCall): Readers {
    return { threads: this.threads, caller: caller.keyId };
  }

  /** Returns an answer with images whose files are embedded, as base64. */
  private async embedded(output: string, call: ModelCall): Promise<string> {
    const readers = this.readersFor(call);
    const base64 = new Map<string, string>();
    for (const url of new Set(await answerTexts('imageUrls', {}, output, readers))) {
      const found = await this.files.named(url);
      if (found === undefined) continue;
      chargesOf(call.request)?.take('bytes', Math.ceil(found.file.size / 3) * 4);
      const parts: Buffer[] = [];
      for await (const part of await found.read()) parts.push(part as Buffer);
      base64.set(url, Buffer.concat(parts).toString('base64'));
    }
    return base64.size === 0 ? output : answerText('embeddedImages', { base64 }, output, readers);
  }

  /** Sends the bytes of an output that is a file, and a text as a text. Any other output is JSON. */
  private async sendAny(held: HeldCall, call: ModelCall): Promise<void> {
    const send = await this.ended(held, call, (output) => this.senderOf(output, call));
    await send?.();
  }

  /** Opens what an output names. The returned function sends it. */
  private async senderOf(output: string, call: ModelCall): Promise<() => unknown> {
    const { request, response } = call;
    const isText = /^\s*"/.test(output);
    const [url] = isText ? [] : await answerTexts('fileUrl', {}, output, this.readersFor(call));
    const found = url === undefined ? undefined : await this.files.named(url);
    if (found !== undefined) {
      const { contentType, size } = found.file;
      chargesOf(request)?.reserveAnswer(Math.min(size, downloadBytes));
      const bytes = await found.read();
      return () => {
        this.watch.bind(response);
        response.writeHead(200, { 'Content-Type': contentType, 'Content-Length': size });
        // A client that disconnects is no error.
        return pipeline(bytes, fileBody(response, size)).catch(() => undefined);
      };
    }
    if (!isText) return () => sendReply(response, { status: 200, body: output });
    const text = Buffer.from(JSON.parse(output) as string);
    return () => {
      chargesOf(request)?.chargeAnswer(text.length);
      response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': text.length });
      response.end(text);
    };
  }
}

/**
 * Throws if the server of a model answers another kind of call. Only the preset says which: the URL of another model may
 * have any path.
 */
function assertAnswers({ runner }: Model, kind: Kind): void {
  if (runner.presetName() !== 'openai') return;
  const path = new URL(runner.addresses()[0]!).pathname.replace(/\/$/, '');
  const [call] = /(?:(?:chat|images|audio)\/)?[a-z]+$/.exec(path)!;
  if (answering[kind].includes(call)) return;
  const remedy = 'name another model; docs/openai.md says how models are made for each call';
  throw wrongAt('model', `names a model that answers ${call}, not ${answering[kind][0]}: ${remedy}`);
}

/** OpenAI's GPT image models have no `response_format`, and always answer in base64. */
const wantsBase64 = ({ model, responseFormat }: CallBody): boolean =>
  (responseFormat ?? (/^(?:chat)?gpt-image\b/.test(model) ? 'b64_json' : 'url')) === 'b64_json';

/** Returns the fields of a form as an input, and what a repetition of the same form has in common with it. */
function inputOf({ fields, files }: Form<UploadedFile>): { input: Record<string, unknown>; sameIn: Buffer } {
  const values = new Map<string, unknown>();
  for (const [written, value] of fields) {
    const name = written.replace(/\[\]$/, '');
    const before = values.get(name);
    if (written !== name) values.set(name, [...[before ?? []].flat(), value]);
    else values.set(name, value);
  }
  const hash = createHash('sha256').update(JSON.stringify([...values]));
  for (const { field, stored } of files) {
    values.set(field, stored.url);
    hash.update(`\n${field}\n`).update(stored.sha256);
  }
  return { input: Object.fromEntries(values), sameIn: hash.digest() };
}
