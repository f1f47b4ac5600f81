import { Inject, Injectable } from '@nestjs/common';
import type { Queries } from '../../database/statement.js';
import type { DomainError } from '../../errors/domain-error.js';
import type { TraceContext } from '../../tracing/trace-context.js';
import { Tracing } from '../../tracing/tracing.js';
import type { Accepted, Idempotency } from './accepted.js';
import { type BatchItem, SubmissionBatches } from './submission-batches.js';
import { type NewRequest, Submissions } from './submissions.js';

/** `Submissions` if spans are sent: each submission has a span, which is stored as the cause of what it writes. */
@Injectable()
export class TracedSubmissions extends Submissions {
  @Inject(Tracing) private readonly tracing!: Tracing;

  override submit(request: NewRequest): Promise<string> {
    return this.tracing.send(request.modelId, contextOf(request), (sent) =>
      super.submit(causedBy(sent, request)),
    );
  }

  override submitOnce(request: NewRequest, idempotency: Idempotency): Promise<Accepted> {
    return this.tracing.send(request.modelId, contextOf(request), (sent) =>
      super.submitOnce(causedBy(sent, request), idempotency),
    );
  }

  override retry(
    request: Parameters<Submissions['retry']>[0],
    terms: Parameters<Submissions['retry']>[1],
    accounting?: (queries: Queries, newId: string) => Promise<void>,
  ): Promise<Accepted | undefined> {
    return this.tracing.send(request.modelId, terms.trace, (trace) =>
      super.retry(request, { ...terms, trace }, accounting),
    );
  }
}

/** `SubmissionBatches` if spans are sent: a batch has one span for each of its models. */
@Injectable()
export class TracedSubmissionBatches extends SubmissionBatches {
  @Inject(Tracing) private readonly tracing!: Tracing;

  override submit(requests: readonly BatchItem[]): Promise<(Accepted | DomainError)[]> {
    const modelIds = requests.map(({ modelId }) => modelId);
    // The requests come with one call, and so in one trace.
    const above = requests[0] && contextOf(requests[0]);
    return this.tracing.sendMany(modelIds, above, (sentFor) =>
      super.submit(requests.map((request) => causedBy(sentFor(request.modelId), request))),
    );
  }
}

function contextOf({ options }: NewRequest): TraceContext | undefined {
  const { traceparent, tracestate } = options ?? {};
  return traceparent === undefined ? undefined : { traceparent, tracestate };
}

function causedBy<Request extends NewRequest>(sent: TraceContext | undefined, request: Request): Request {
  return { ...request, options: { ...request.options, ...sent } };
}
