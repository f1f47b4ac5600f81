import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../../auth/caller.js';
import { DomainError } from '../../errors/domain-error.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { answeredCodes } from '../../http/problem.js';
import type { Reply } from '../../http/reply.js';
import type { Model } from '../../models/model.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import type { RequestError } from '../../queue/request-errors.js';
import { Backlog } from '../../queue/submit/backlog.js';
import { NewRequests } from '../../requests/new-requests.js';
import { RequestHandlers, unlessRefused } from '../../requests/request-handlers.js';
import { OutputStreams } from '../../stream/output-streams.js';
import type { KeyedCall, OpenCall } from '../adapter-call.js';
import { SseWriter, streamEndErrors } from '../sse-writer.js';
import { type HeldCall, HeldCalls } from '../held-calls.js';
import { requestIdField, setRequestId } from './answer-error.js';
import { errorTypeOf, toFalError } from './fal-error.js';
import { type FalOptions, falOptions } from './fal-options.js';
import { toFalQueued, toFalStatus } from './wire.js';

const noInput = Buffer.from('{}');

/** Serves fal's calls by the rules of the service's own calls. Only the wire format differs. */
@Injectable()
export class FalHandlers {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly newRequests: NewRequests,
    private readonly backlog: Backlog,
    private readonly held: HeldCalls,
    private readonly streams: OutputStreams,
  ) {}

  async submit(
    { caller, request: { headers, query }, base }: KeyedCall,
    modelId: string | undefined,
    body: Buffer,
  ): Promise<Reply> {
    const falsOwn = falOptions(query, headers);
    const model = this.newRequests.modelNamed(caller, modelId);
    const options = this.optionsFor(model, falsOwn);
    const input = body.length === 0 ? noInput : body;
    const { requestId: id } = await this.requests.accept(caller, model.id, input, headers, options, base, {
      adapter: 'fal',
    });
    const seen = await unlessRefused(this.requests.look(caller, id, {}));
    const queued = seen?.snapshot ?? { row: { id, modelId: model.id } };
    return aboutRequest(id, 200, toFalQueued(queued, base));
  }

  async status({ caller, request, base }: OpenCall, requestId: string): Promise<Reply> {
    const { snapshot, entries } = await this.requests.look(caller, requestId, request.query);
    const status = snapshot.row.state === 'COMPLETED' ? 200 : 202;
    return aboutRequest(requestId, status, toFalStatus(snapshot, base, entries));
  }

  /** Returns the result of a call that waits for it. undefined: the client has disconnected. */
  async run(held: HeldCall, { request, response }: KeyedCall): Promise<Reply | undefined> {
    return this.held.completed(held, async (row) => {
      if (row.error !== null) return this.failure(row, row.error, response);
      return { status: 200, body: await this.requests.output(row, request) };
    });
  }

  /** The request has made its attempts, and fal's client would submit it again after a 502, 503 or 504. */
  private failure(row: StatusRow, error: RequestError, response: Response): Reply {
    answeredCodes.set(response, error.code as ProblemCode);
    if (isUsersTimeout(row)) response.setHeader(timeoutTypeField, 'user');
    const { status, body } = toFalError(error);
    const isFinal = status < 500 || isUsersTimeout(row);
    return {
      status: isFinal ? status : 500,
      fields: ['X-Fal-Error-Type', errorTypeOf(error)],
      body: JSON.stringify(body),
    };
  }

  /** Sends the parts of the output as they come, then the whole output. */
  async stream(held: HeldCall, call: KeyedCall): Promise<void> {
    const { caller, request, response } = call;
    const writer = new SseWriter(response);
    try {
      const end = await writer.follow(
        this.streams.events(call, held.row, { endsWithAttempt: () => true }),
        (part) => [part],
      );
      if (response.destroyed) return;
      if (end.kind !== 'done') throw streamEndErrors[end.kind]();
      const { whole } = end;
      const output = await held.answer(
        async () => whole ?? this.requests.output(await this.requests.find(caller, held.row.id), request),
      );
      writer.send(output);
      writer.end();
    } catch (error) {
      if (!writer.hasBegun || !(error instanceof DomainError)) throw error;
      const { code, status, message, options } = error;
      writer.send(JSON.stringify(toFalError({ ...options, code, status, message }).body));
      writer.break();
    }
  }

  /** Submits for a call that waits, or takes up the request of the call that this one repeats. */
  async begin(
    { caller, request, response, base }: KeyedCall,
    modelId: string | undefined,
    body: Buffer,
  ): Promise<HeldCall> {
    const { headers, query } = request;
    const model = this.newRequests.modelNamed(caller, modelId);
    const held = await this.held.begin({
      adapter: 'fal',
      caller,
      modelName: model.id,
      body: body.length === 0 ? noInput : body,
      headers,
      options: this.optionsFor(model, falOptions(query, headers)),
      base,
      response,
      // fal's clients do not say when they repeat a call.
      isRepeated: true,
    });
    setRequestId(response, held.row.id);
    return held;
  }

  /** Checks the options that only fal has, and returns the others as the service's own. */
  private optionsFor(model: Model, { startMs, maxQueueLength, query: options }: FalOptions): object {
    if (maxQueueLength !== undefined) this.backlog.assertFewer(model.id, maxQueueLength + 1);
    if (startMs === undefined || startMs >= (model.expiresMs ?? Infinity)) return options;
    return { ...options, expires: `${startMs / 1_000}s` };
  }

  async result({ caller, request, response }: OpenCall, requestId: string): Promise<Reply> {
    const row = await this.requests.find(caller, requestId, request);
    // Set here, because the answer may be an error.
    if (isUsersTimeout(row)) response.setHeader(timeoutTypeField, 'user');
    return {
      status: 200,
      fields: [requestIdField, requestId],
      body: await this.requests.output(row, request),
    };
  }

  /** A request that was already cancelled can be cancelled again, as with the service's own call. */
  async cancel(caller: Caller | undefined, requestId: string): Promise<Reply> {
    await this.requests.cancel(caller, requestId);
    return aboutRequest(requestId, 202, { status: 'CANCELLATION_REQUESTED' });
  }
}

/** Tells fal's client that its own timeout has passed, so that it does not try again. */
const timeoutTypeField = 'X-Fal-Request-Timeout-Type';
const isUsersTimeout = ({ outcome, hasOwnExpiry }: StatusRow): boolean =>
  outcome === 'expired' && hasOwnExpiry === true;

function aboutRequest(id: string, status: number, body: object): Reply {
  return { status, fields: [requestIdField, id], body: JSON.stringify(body) };
}
