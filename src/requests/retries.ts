import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import type { Queries } from '../database/statement.js';
import { RequestCollection } from '../queue/request-collection.js';
import type { StatusRow } from '../queue/status-row.js';
import type { Accepted, Idempotency } from '../queue/submit/accepted.js';
import { Submissions } from '../queue/submit/submissions.js';
import { traceContextOf } from '../tracing/trace-context.js';
import { NewRequests } from './new-requests.js';

interface RetryOptions {
  /** Of the call, which may have a trace of its own. */
  headers?: object;
  idempotency?: Idempotency | undefined;
  /** In the commit of the new request. */
  accounting?: (queries: Queries, newId: string) => Promise<void>;
}

/** Submits completed requests again, whoever asks for it. */
@Injectable()
export class Retries {
  constructor(
    private readonly newRequests: NewRequests,
    private readonly collection: RequestCollection,
    private readonly submissions: Submissions,
  ) {}

  /**
   * For `owner`, by the rules of now; in the trace of the call, or else of the request. Resolves once the new request is
   * committed; undefined: the input is gone.
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
