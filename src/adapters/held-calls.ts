import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { isDatabaseUnavailable } from '../errors/database-error.js';
import { DomainError } from '../errors/domain-error.js';
import { problemCodes } from '../errors/problem-codes.js';
import { chargesOf } from '../http/charges.js';
import { Draining } from '../http/draining.js';
import type { Model } from '../models/model.js';
import type { StatusRow } from '../queue/reads/status-row.js';
import { LongPolls } from '../requests/long-polls.js';
import { type AdapterTerms, NewRequests } from '../requests/new-requests.js';
import { fingerprintOf, RequestHandlers } from '../requests/request-handlers.js';
import { AbandonedCalls } from './duties/abandoned-calls.js';

/** A submission whose call stays open until its request has completed. */
export interface HeldSubmission extends AdapterTerms {
  caller: Caller;
  /** The id or an alias of the model. */
  modelName: string | undefined;
  /** The input of the model, as JSON. */
  body: Buffer;
  headers: IncomingHttpHeaders;
  /** The options of the submission, as the service's own query has them. */
  options: object;
  /** The beginning of URLs about the request. */
  base: string;
  response: ServerResponse;
  /** True: this may be the repetition of a call, because its client says so or has no way to say it. */
  isRepeated: boolean;
}

/** A call that is open until its request has completed. */
export interface HeldCall {
  caller: Caller;
  model: Model;
  /** The request when the call began. */
  row: StatusRow;
  response: ServerResponse;
  /**
   * Returns the answer that `read` makes of the completed request, and releases the call. If the answer cannot be made
   * now, the call is not released: its client repeats it, and the repetition gets the same request.
   */
  answer<Answer>(read: () => Promise<Answer>): Promise<Answer>;
  /** The call has its answer, or will have it. Its close no longer cancels the request. */
  release(): void;
  /**
   * The call ends without its answer. If no other call waits for the request here, and no idempotency key lets the client
   * repeat this one, the request is cancelled at once.
   */
  discard(): void;
}

/** What a held call does about its request. */
type HeldEnds = Pick<HeldCall, 'answer' | 'release' | 'discard'>;

/**
 * Calls that submit and wait, for minutes. If such a call is closed, its request is cancelled after a while. If its
 * client repeats the call before that, the repetition gets the same request, on any node.
 */
@Injectable()
export class HeldCalls {
  /** The number of open calls here by request. */
  private readonly open = new Map<string, number>();
  private readonly log = new Logger(HeldCalls.name);

  constructor(
    private readonly requests: RequestHandlers,
    private readonly newRequests: NewRequests,
    private readonly longPolls: LongPolls,
    private readonly abandoned: AbandonedCalls,
    private readonly draining: Draining,
  ) {}

  /** Submits, or takes up the request of the same call before. */
  async begin(submission: HeldSubmission): Promise<HeldCall> {
    const { caller, modelName, body, headers, options, response, isRepeated, sameIn = body } = submission;
    const model = this.newRequests.modelNamed(caller, modelName);
    chargesOf(response.req)?.take('streams', 1);
    const fingerprint = fingerprintOf(model.id, sameIn, options);
    // An idempotency key says itself which call is repeated. Calls with the same body may have others.
    const isFoundByBody = isRepeated && headers['idempotency-key'] === undefined;
    const before = isFoundByBody ? await this.abandoned.takeUp(caller.keyId, fingerprint) : undefined;
    const { requestId, isReplayed } =
      before === undefined ? await this.submit(submission, model) : { requestId: before, isReplayed: false };
    chargesOf(response.req)?.releaseBody();
    const ends = await this.follow(requestId, submission, { fingerprint, isReplayed });
    return { caller, model, row: await this.requests.find(caller, requestId), response, ...ends };
  }

  /**
   * Returns what `read` makes of the completed request. undefined: the client has disconnected. Throws if it takes
   * longer than a run of the model may, or if the service stops.
   */
  async completed<Answer>(
    call: HeldCall,
    read: (row: StatusRow) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const { timeoutMs } = call.model;
    const last = await this.waited(call, timeoutMs);
    if (last === undefined) return undefined;
    if (last.state === 'COMPLETED') return call.answer(() => read(last));
    if (this.draining.isStarted)
      throw new DomainError('unavailable', 'The service is shutting down. Send the same call again.');
    throw new DomainError(
      'timed_out',
      `The request has not completed in ${timeoutMs / 1_000} s, the longest wait of a call for this model.`,
    );
  }

  /**
   * Returns what `read` makes of the request when it has completed, or when this time is over, which is at most that of a
   * long poll. A request that has not completed by then continues without the call. undefined: the client has
   * disconnected.
   */
  async within<Answer>(
    call: HeldCall,
    ms: number,
    read: (row: StatusRow) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const last = await this.waited(call, Math.min(ms, this.longPolls.maxHoldMs));
    if (last === undefined) return undefined;
    if (last.state === 'COMPLETED') return call.answer(() => read(last));
    call.release();
    return read(last);
  }

  private async waited(
    { caller, model, row, response }: HeldCall,
    ms: number,
  ): Promise<StatusRow | undefined> {
    let last: StatusRow | undefined = row;
    if (row.state !== 'COMPLETED' && !this.draining.isStarted)
      last = await this.longPolls.hold(row, ms, response, model.id);
    if (response.destroyed || response.req.socket.destroyed) return undefined;
    return last ?? (await this.requests.find(caller, row.id));
  }

  /** `isReplayed`: an idempotency key has found the request of an earlier call, which may still be open. */
  private async submit(
    { caller, body, headers, options, base, adapter, runWebhook, sameIn }: HeldSubmission,
    { id: modelId }: Model,
  ): Promise<{ requestId: string; isReplayed: boolean }> {
    const { requestId, fields = [] } = await this.requests.accept(
      caller,
      modelId,
      body,
      headers,
      options,
      base,
      { adapter, runWebhook, sameIn },
    );
    return { requestId, isReplayed: fields.includes('Idempotent-Replayed') };
  }

  private async follow(
    requestId: string,
    { caller, headers, response }: HeldSubmission,
    { fingerprint, isReplayed }: { fingerprint: Buffer; isReplayed: boolean },
  ): Promise<HeldEnds> {
    this.open.set(requestId, (this.open.get(requestId) ?? 0) + 1);
    let isOpen = true;
    let resumed = Promise.resolve();
    let next: NodeJS.Timeout | undefined;
    /** Returns whether it was the last call here that waits for the request. */
    const leave = (): boolean => {
      if (!isOpen) return false;
      isOpen = false;
      clearTimeout(next);
      const left = this.open.get(requestId)! - 1;
      if (left > 0) this.open.set(requestId, left);
      else this.open.delete(requestId);
      return left === 0;
    };
    // Another node notes the close of an earlier call, because it does not know that this one waits.
    const resume = async (): Promise<void> => {
      resumed = this.abandoned
        .resume(requestId)
        .catch((error: unknown) => this.log.error({ err: error }, 'a repeated call could not be noted'));
      await resumed;
      if (isOpen) next = setTimeout(() => void resume(), this.abandoned.graceMs / 2);
    };
    const answer = async <Answer>(read: () => Promise<Answer>): Promise<Answer> => {
      try {
        const text = await read();
        leave();
        return text;
      } catch (error) {
        if (!mayPass(error)) leave();
        throw error;
      }
    };
    const close = (): void => {
      if (!leave()) return;
      resumed
        .then(() => this.abandoned.abandon({ requestId, keyId: caller.keyId, fingerprint }))
        .catch((error: unknown) => this.log.error({ err: error }, 'a closed call could not be noted'));
    };
    const discard = (): void => {
      if (headers['idempotency-key'] !== undefined || !leave()) return;
      this.requests.cancel(caller, requestId).catch((error: unknown) => {
        // It has completed meanwhile, or runs to its end, because nothing can be cancelled without the database.
        if (error instanceof DomainError || isDatabaseUnavailable(error)) return;
        this.log.error({ err: error }, 'the request of a broken stream could not be cancelled');
      });
    };
    const begun = isReplayed ? resume() : undefined;
    // A client that has disconnected already emits no event any more.
    if (response.closed || response.destroyed) close();
    else response.once('close', close);
    await begun;
    return { answer, release: () => void leave(), discard };
  }
}

/** True: the same call may get its answer soon. */
const mayPass = (error: unknown): boolean =>
  !(error instanceof DomainError) || ['now', 'later'].includes(problemCodes[error.code].retry);
