import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import type { StatusRow } from '../queue/reads/status-row.js';
import { LongPolls } from '../requests/long-polls.js';
import { RequestHandlers } from '../requests/request-handlers.js';

/** How long a cancel waits for the run to stop. Clients give up after 3 s. */
const cancelWaitMs = 2_000;

/** Waits until requests have ended, for adapters that answer with the request itself. */
@Injectable()
export class RequestEnds {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly longPolls: LongPolls,
  ) {}

  /** Returns the request when it has completed, or when this time is over, which is at most that of a long poll. */
  async within(
    caller: Caller | undefined,
    requestId: string,
    ms: number,
    response: ServerResponse,
  ): Promise<StatusRow> {
    const row = await this.requests.find(caller, requestId, response.req);
    if (row.state === 'COMPLETED') return row;
    const hold = chargesOf(response.req)?.take('streams', 1);
    try {
      const last = await this.longPolls.hold(
        row,
        Math.min(ms, this.longPolls.maxHoldMs),
        response,
        undefined,
      );
      return last ?? (await this.requests.find(caller, requestId));
    } finally {
      hold?.release();
    }
  }

  /** Cancels a request, and returns it when its run has stopped, or after a moment. It may have completed before. */
  async cancelled(
    caller: Caller | undefined,
    requestId: string,
    response: ServerResponse,
  ): Promise<StatusRow> {
    try {
      await this.requests.cancel(caller, requestId);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'already_completed') throw error;
    }
    return this.within(caller, requestId, cancelWaitMs, response);
  }
}
