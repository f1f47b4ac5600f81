import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import type { Queries } from '../database/statement.js';
import { CallerRequests } from '../queue/reads/caller-requests.js';
import type { StatusRow } from '../queue/reads/status-row.js';
import { type Accepted, type Idempotency, Submissions } from '../queue/submit/submissions.js';
import { traceContextOf } from '../tracing/trace-context.js';
import { NewRequests } from './new-requests.js';

interface RetryOptions {
  /** Headers of the call, which may have its own trace. */
  headers?: object;
  idempotency?: Idempotency | undefined;
  /** Runs in the commit of the new request. */
  accounting?: (queries: Queries, newId: string) => Promise<void>;
}

/** Submits completed requests again, for callers and operators. Another attempt is a requeue (`RunEnds`). */
@Injectable()
export class Retries {
  constructor(
    private readonly newRequests: NewRequests,
    private readonly collection: CallerRequests,
    private readonly submissions: Submissions,
  ) {}

  /**
   * Submits for `owner`, by the current rules. The trace is that of the call, or else of the request. Resolves when the
   * new request is committed. undefined: the input was deleted.
   */
  async submit(
    owner: Caller,
    row: Pick<StatusRow, 'id' | 'modelId' | 'priority'>,
    { headers = {}, idempotency, accounting }: RetryOptions,
  ): Promise<Accepted | undefined> {
    const { request, terms } = this.newRequests.again(owner, row);
    const trace = traceContextOf(headers) ?? (await this.collection.traceOf(row.id));
    return this.submissions.retry(request, { ...terms, idempotency, trace }, accounting);
  }
}
