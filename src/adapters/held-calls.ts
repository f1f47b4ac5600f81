import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import type { Adapter } from '../config/adapter.js';
import { Database } from '../database/database.js';
import { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import { Draining } from '../http/draining.js';
import type { Model } from '../models/model.js';
import { Cancels } from '../queue/completion/cancels.js';
import type { StatusRow } from '../queue/reads/status-row.js';
import { LongPolls } from '../requests/long-polls.js';
import { NewRequests } from '../requests/new-requests.js';
import { fingerprintOf, RequestHandlers } from '../requests/request-handlers.js';
import { abandonCall, resumeCall, takeDueCalls, takeUpCall } from './queries/abandoned-calls.js';

/** A submission whose call stays open until its request has completed. */
export interface HeldSubmission {
  adapter: Adapter;
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
  /** Whether this may be the repetition of a call: its client says so, or has no way to say it. */
  isRepeated: boolean;
  /** What repetitions have in common, if that is not the body. */
  sameIn?: Buffer | string;
}

/** A call that is open until its request has completed. */
export interface HeldCall {
  caller: Caller;
  model: Model;
  /** The request when the call began. */
  row: StatusRow;
  response: ServerResponse;
  /** The call has its answer, or will have it. Its close no longer cancels the request. */
  release(): void;
}

/** A sweep comes a little after the time at which a request is due to be cancelled. */
const sweepDelayMs = 200;

/**
 * Calls that submit and wait, for minutes. If such a call is closed, its request is cancelled after a while. If its
 * client repeats the call before that, the repetition gets the same request, on any node.
 */
@Injectable()
export class HeldCalls implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** How long the request of a closed call goes on. Tests shorten it. */
  graceMs = 10_000;
  /** The number of open calls here by request. */
  private readonly open = new Map<string, number>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly log = new Logger(HeldCalls.name);

  constructor(
    private readonly requests: RequestHandlers,
    private readonly newRequests: NewRequests,
    private readonly longPolls: LongPolls,
    private readonly cancels: Cancels,
    private readonly draining: Draining,
    private readonly database: Database,
  ) {}

  /** Nodes that were lost may have left requests to cancel. */
  onApplicationBootstrap(): void {
    this.sweepLater();
  }

  beforeApplicationShutdown(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }

  /** Submits, or takes up the request of the same call before. */
  async begin(submission: HeldSubmission): Promise<HeldCall> {
    const { caller, modelName, body, options, response, isRepeated, sameIn = body } = submission;
    const model = this.newRequests.modelNamed(caller, modelName);
    chargesOf(response.req)?.take('streams', 1);
    const fingerprint = fingerprintOf(model.id, sameIn, options);
    const before = isRepeated ? await takeUpCall(this.database, caller.keyId, fingerprint) : undefined;
    const requestId = before ?? (await this.submit(submission, model));
    const release = this.follow(requestId, caller.keyId, fingerprint, response);
    try {
      return { caller, model, row: await this.requests.find(caller, requestId), response, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Returns the completed request. Throws if it takes longer than a run of the model may, or if the service stops. */
  async completed({ caller, model, row, response, release }: HeldCall): Promise<StatusRow> {
    let last: StatusRow | undefined = row;
    if (row.state !== 'COMPLETED' && !this.draining.isStarted)
      last = await this.longPolls.hold(row, model.timeoutMs, response, model.id);
    last ??= await this.requests.find(caller, row.id);
    if (last.state === 'COMPLETED') {
      release();
      return last;
    }
    if (this.draining.isStarted)
      throw new DomainError('unavailable', 'The service is shutting down. Send the same call again.');
    throw new DomainError(
      'timed_out',
      `The request has not completed in ${model.timeoutMs / 1_000} s, the longest wait of a call for this model.`,
    );
  }

  private async submit(
    { adapter, caller, body, headers, options, base }: HeldSubmission,
    { id: modelId }: Model,
  ): Promise<string> {
    const { requestId, fields = [] } = await this.requests.accept(
      caller,
      modelId,
      body,
      headers,
      options,
      base,
      adapter,
    );
    if (fields.includes('Idempotent-Replayed')) await resumeCall(this.database, requestId);
    return requestId;
  }

  private follow(
    requestId: string,
    keyId: string,
    fingerprint: Buffer,
    response: ServerResponse,
  ): () => void {
    this.open.set(requestId, (this.open.get(requestId) ?? 0) + 1);
    let isOpen = true;
    const leave = (isAnswered: boolean): void => {
      if (!isOpen) return;
      isOpen = false;
      const left = this.open.get(requestId)! - 1;
      if (left > 0) this.open.set(requestId, left);
      else this.open.delete(requestId);
      if (!isAnswered && left === 0) void this.abandon(requestId, keyId, fingerprint);
    };
    // A client that has disconnected already emits no event any more.
    if (response.closed || response.destroyed) leave(false);
    else response.once('close', () => leave(false));
    return () => leave(true);
  }

  private async abandon(requestId: string, keyId: string, fingerprint: Buffer): Promise<void> {
    try {
      await abandonCall(this.database, { requestId, keyId, fingerprint }, this.graceMs);
      this.sweepLater();
    } catch {
      // Without the database nothing can be cancelled. The request runs to its end.
    }
  }

  private sweepLater(): void {
    if (this.draining.isStarted) return;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      void this.sweep();
    }, this.graceMs + sweepDelayMs);
    this.timers.add(timer);
  }

  /** Cancels the requests that nobody has taken up in time. */
  private async sweep(): Promise<void> {
    try {
      for (const id of await takeDueCalls(this.database))
        if (!this.open.has(id)) await this.cancels.one(id);
    } catch (error) {
      this.log.warn({ err: error }, 'requests of closed calls could not be cancelled');
      this.sweepLater();
    }
  }
}
