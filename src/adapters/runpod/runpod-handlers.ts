import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { DomainError } from '../../errors/domain-error.js';
import { chargesOf } from '../../http/charges.js';
import type { Reply } from '../../http/reply.js';
import { WrappedInputs } from '../../json/wrapped-inputs.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import { QueueService } from '../../queue/queue.service.js';
import { CollectionHandlers } from '../../requests/collection-handlers.js';
import { NewRequests } from '../../requests/new-requests.js';
import { RequestHandlers } from '../../requests/request-handlers.js';
import { OutputPolls } from '../../stream/output-polls.js';
import type { KeyedCall, OpenCall } from '../adapter-call.js';
import { HeldCalls } from '../held-calls.js';
import { RequestEnds } from '../request-ends.js';
import { type Job, jobText, toJob } from './job.js';
import { jobOptions } from './job-options.js';

/** A call for a job. */
interface JobCall extends KeyedCall {
  /** The id or an alias of a model. */
  endpoint: string;
  body: Buffer;
}

/** How long a call for the next parts of an output waits. The Python client gives up after 10 s. */
const streamWaitMs = 8_000;

/** Serves Runpod's calls by the rules of the service's own calls. Every answer but an error has the status 200. */
@Injectable()
export class RunpodHandlers {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly collection: CollectionHandlers,
    private readonly newRequests: NewRequests,
    private readonly inputs: WrappedInputs,
    private readonly held: HeldCalls,
    private readonly ends: RequestEnds,
    private readonly polls: OutputPolls,
    private readonly queue: QueueService,
  ) {}

  async run(call: JobCall): Promise<Reply> {
    const { caller, request, base } = call;
    const { modelId, input, options } = await this.read(call);
    const { requestId } = await this.requests.accept(caller, modelId, input, request.headers, options, base, {
      adapter: 'runpod',
    });
    return ok(JSON.stringify({ id: requestId, status: 'IN_QUEUE' } satisfies Job));
  }

  /** Answers when the job has ended, or when the wait is over. undefined: the client has disconnected. */
  async runSync(call: JobCall, waitMs: number): Promise<Reply | undefined> {
    const { modelId, input, options } = await this.read(call);
    const { caller, request, response, base } = call;
    const { headers } = request;
    const submission = { caller, headers, base, response, options, modelName: modelId, body: input };
    const held = await this.held.begin({ ...submission, adapter: 'runpod', isRepeated: true });
    return this.held.within(held, waitMs, (row) => this.answer(row, response));
  }

  async status({ caller, response }: OpenCall, id: string): Promise<Reply> {
    return this.answer(await this.requests.find(caller, id, response.req), response);
  }

  /** Answers when the job has ended, or when the wait is over. */
  async statusSync({ caller, response }: OpenCall, id: string, waitMs: number): Promise<Reply> {
    return this.answer(await this.ends.within(caller, id, waitMs, response), response);
  }

  /** Answers with the parts of the output that no earlier call has had, as soon as there are some. */
  async stream({ caller, request, response }: OpenCall, id: string): Promise<Reply> {
    const { row, parts, isDone } = await this.polls.next({ request, response, caller }, id, streamWaitMs);
    const job = toJob(row);
    // A client stops at a final status, so a job is in progress until all of its output was read.
    const status = row.state === 'COMPLETED' && !isDone ? 'IN_PROGRESS' : job.status;
    const error = isDone ? job.error : undefined;
    const stream = parts.map(({ attempt, index, delta }) => {
      const metrics = JSON.stringify({ attempt, index });
      return `{"output":${delta},"metrics":${metrics}}`;
    });
    const head = JSON.stringify({ id: job.id, status, error });
    return ok(`${head.slice(0, -1)},"stream":[${stream.join()}]}`);
  }

  /** Answers with the job, also if it had ended before. */
  async cancel({ caller, response }: OpenCall, id: string): Promise<Reply> {
    return ok(JSON.stringify(toJob(await this.ends.cancelled(caller, id, response))));
  }

  /** Submits a job again that failed. The new one has an id of its own. */
  async retry({ caller, request, base }: KeyedCall, id: string): Promise<Reply> {
    const { outcome } = await this.requests.find(caller, id);
    if (outcome === 'succeeded' || outcome === 'cancelled')
      throw new DomainError('bad_request', 'Only a job with the status FAILED or TIMED_OUT can be retried.');
    const { requestId } = await this.collection.retry(caller, id, request.headers, base);
    return ok(JSON.stringify({ id: requestId, status: 'IN_QUEUE' } satisfies Job));
  }

  /** Cancels the caller's own jobs of a model that wait. */
  async purgeQueue(caller: Caller, endpoint: string): Promise<Reply> {
    const { id: modelId } = this.newRequests.modelNamed(caller, endpoint);
    const filter = { modelId, state: 'IN_QUEUE' as const };
    let removed = 0;
    for (let more = true; more;) {
      const counts = await this.collection.cancel(caller, { request_ids: undefined, filter });
      removed += counts.cancelled;
      more = counts.more && counts.cancelled > 0;
    }
    return ok(JSON.stringify({ removed, status: 'completed' }));
  }

  private async read({ caller, endpoint, body }: JobCall) {
    const model = this.newRequests.modelNamed(caller, endpoint);
    const { fields, input } = await this.inputs.read(body, caller.keyId);
    return { modelId: model.id, input, options: jobOptions(fields, model) };
  }

  private async answer(row: StatusRow, { req }: ServerResponse): Promise<Reply> {
    const output = row.outcome === 'succeeded' ? await this.queue.output(row.id, chargesOf(req)) : null;
    return ok(jobText(toJob(row), output));
  }
}

const ok = (body: string): Reply => ({ status: 200, body });
