import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { Clock } from '../database/clock.js';
import { ofDatabase } from '../errors/database-error.js';
import { DomainError } from '../errors/domain-error.js';
import type { ProblemCode } from '../errors/problem-codes.js';
import { chargesOf } from '../http/charges.js';
import type { Reply } from '../http/reply.js';
import { headerFieldsOf, knownOptionsOf } from '../http/input/option.js';
import { Cancels } from '../queue/completion/cancels.js';
import type { LogEntry } from '../queue/runs/run-log.js';
import type { Snapshot, StatusRow } from '../queue/reads/status-row.js';
import { QueueService } from '../queue/queue.service.js';
import { Retention } from '../queue/retention/retention.js';
import { isRequestId } from '../queue/submit/request-id.js';
import { type Accepted, Submissions } from '../queue/submit/submissions.js';
import { traceContextOf } from '../tracing/trace-context.js';
import { LogsQuery } from './dto/logs.query.js';
import { SubmitHeaders } from './dto/submit.headers.js';
import { submitOptions, writtenOptions } from './dto/submit.query.js';
import { LongPolls } from './long-polls.js';
import { parseInputBody } from '../http/input/json-body.js';
import { assertFits, type Fingerprint, fingerprintOf as hashOf } from '../json/jobs.js';
import { JsonThreads } from '../json/json-threads.js';
import { type AdapterTerms, NewRequests, withOptions } from './new-requests.js';
import { waitSeconds } from '../http/input/prefer.js';
import { retryAfterSeconds, toLogEntry, toMetrics, toQueuedRequest, toStatus } from './status-view.js';

export type AcceptedReply = Reply & { requestId: string };

/**
 * The rules of the four calls and their answers, for the fast path and the controller. `base` is the beginning of the
 * URLs in an answer. `response` is given where the call may wait (`Prefer: wait`).
 */
@Injectable()
export class RequestHandlers {
  constructor(
    private readonly newRequests: NewRequests,
    private readonly submissions: Submissions,
    private readonly queue: QueueService,
    private readonly cancels: Cancels,
    private readonly retention: Retention,
    private readonly longPolls: LongPolls,
    private readonly clock: Clock,
    private readonly json: JsonThreads,
  ) {}

  /**
   * Resolves when the request is committed or, if the caller waits, has completed in that time. `modelId` is undefined
   * if the path names none. The method is not async, because a long poll would then keep its body.
   */
  submit(
    caller: Caller,
    modelId: string | undefined,
    body: Buffer,
    headers: IncomingHttpHeaders,
    query: object,
    base: string,
    response?: ServerResponse,
  ): Promise<Reply> {
    const seconds = response === undefined ? 0 : waitSeconds(headers.prefer);
    if (seconds === 0) return this.accept(caller, modelId, body, headers, query, base);
    // Taken before anything is accepted, so that a call that may not wait is refused as a whole.
    const hold = chargesOf(response!.req)?.take('streams', 1);
    const accepting = this.accept(caller, modelId, body, headers, query, base);
    return this.outcome(accepting, caller, seconds, base, response!).finally(() => hold?.release());
  }

  async status(
    caller: Caller | undefined,
    requestId: string,
    query: object,
    base: string,
    response?: ServerResponse,
  ): Promise<Reply> {
    const { snapshot, entries } = await this.look(caller, requestId, query, response);
    const body = JSON.stringify(toStatus(snapshot, base, entries));
    if (snapshot.row.state !== 'IN_QUEUE') return { status: 200, body };
    const seconds = retryAfterSeconds(snapshot, this.clock.now());
    return { status: 200, fields: ['Retry-After', String(seconds)], body };
  }

  /** Returns the current snapshot of a request. `entries`: its log, if the query asks for it. */
  async look(
    caller: Caller | undefined,
    requestId: string,
    query: object,
    response?: ServerResponse,
  ): Promise<{ snapshot: Snapshot; entries: LogEntry[] | undefined }> {
    const { logs } = knownOptionsOf(LogsQuery, query);
    let row = await this.find(caller, requestId, response?.req);
    if (response?.req.headers.prefer !== undefined) row = await this.awaited(row, caller, response);
    const entries = logs ? await this.log(row) : undefined;
    return { snapshot: this.queue.snapshot(row), entries };
  }

  async response(
    caller: Caller | undefined,
    requestId: string,
    query: object,
    response?: ServerResponse,
  ): Promise<Reply> {
    const { logs } = knownOptionsOf(LogsQuery, query);
    let row = await this.find(caller, requestId, response?.req);
    if (response?.req.headers.prefer !== undefined) row = await this.awaited(row, caller, response);
    const output = await this.output(row, response?.req);
    if (!logs) return { status: 200, body: output };
    const entries = (await this.log(row)).map(toLogEntry);
    // The output is inserted as text, because parsing and serialising it could change its numbers.
    const body =
      `{"request_id":${JSON.stringify(row.id)},"status":"COMPLETED","response":${output},` +
      `"logs":${JSON.stringify(entries)},"metrics":${JSON.stringify(toMetrics(row))}}`;
    return { status: 200, body };
  }

  /** Returns the input as the caller sent it. A large one is read and sent as a response is. */
  async input(caller: Caller | undefined, requestId: string, response: ServerResponse): Promise<Reply> {
    const { id } = await this.find(caller, requestId, response.req);
    const body = await this.queue.input(id, chargesOf(response.req));
    if (body === null) throw gone();
    return { status: 200, body };
  }

  async cancel(caller: Caller | undefined, requestId: string): Promise<Reply> {
    const { id } = await this.find(caller, requestId);
    const found = await this.cancels.one(id);
    if (found === undefined) throw unknownRequest();
    const { result, outcome } = found;
    if (result === 'requested')
      return { status: 202, body: JSON.stringify({ status: 'CANCELLATION_REQUESTED' }) };
    if (result === 'cancelled' || outcome === 'cancelled')
      return { status: 200, body: JSON.stringify({ status: 'CANCELLED' }) };
    throw new DomainError(
      'already_completed',
      'The request has completed; there is nothing left to cancel.',
      {
        extensions: { cancel_status: 'ALREADY_COMPLETED' },
      },
    );
  }

  /**
   * Finds a request. A request that the caller may not see is as unknown as one that never existed. `request`: the HTTP
   * call.
   */
  async find(caller: Caller | undefined, requestId: string, request?: IncomingMessage): Promise<StatusRow> {
    if (!isRequestId(requestId)) throw unknownRequest();
    const row = await this.queue.status(requestId);
    if (row === undefined) throw (await this.retention.mayHaveRemoved(requestId)) ? gone() : unknownRequest();
    if (caller !== undefined && caller.keyId !== row.keyId) throw unknownRequest();
    if (row.erasedAtMs !== null) throw gone('The request was erased.');
    if (this.retention.isOver(row)) throw gone();
    // A call without a key is charged to the key of the request.
    if (caller === undefined && request !== undefined) chargesOf(request)?.chargeToOwner(row.keyId);
    return row;
  }

  /** Resolves when the request is committed. */
  async accept(
    caller: Caller,
    modelId: string | undefined,
    body: Buffer,
    headers: object,
    query: object,
    base: string,
    by?: AdapterTerms,
  ): Promise<AcceptedReply> {
    const { 'idempotency-key': key } = headerFieldsOf(SubmitHeaders, headers);
    const model = this.newRequests.modelOf(caller, modelId);
    const options = submitOptions(query);
    const about = key === undefined ? undefined : aboutInput(model.id, query);
    let input: Buffer;
    let fingerprint: Buffer | undefined;
    if (body.length <= model.maxInlineBytes) {
      const { bytes, value } = parseInputBody(body);
      assertFits(model.id, model.validate(value));
      input = bytes;
      fingerprint = about && hashOf(about, bytes);
    } else {
      const job = { modelId: model.id, fingerprint: about };
      const [checked, bytes] = await this.json.run('input', job, body, { caller: caller.keyId });
      input = bytes;
      fingerprint = checked.fingerprint && Buffer.from(checked.fingerprint);
    }
    if (by?.sameIn !== undefined) fingerprint = about && hashOf(about, by.sameIn);
    const made = this.newRequests.of(caller, model, input, options, base);
    if (by?.runWebhook !== undefined) this.newRequests.assertWebhookUrl(by.runWebhook.url);
    const request = withOptions(made, traceContextOf(headers), by);
    if (key !== undefined) request.idempotency = { key, fingerprint: fingerprint! };
    return acceptedReply(await this.submissions.submit(request), base);
  }

  /**
   * Answers 200 with status and output if the request completes in time. Otherwise gives the answer of the submission.
   */
  private async outcome(
    accepting: Promise<AcceptedReply>,
    caller: Caller,
    seconds: number,
    base: string,
    response: ServerResponse,
  ): Promise<Reply> {
    const accepted = await accepting;
    return (await unlessRefused(this.awaitedOutcome(accepted, caller, seconds, base, response))) ?? accepted;
  }

  /** undefined: the request has not completed in time. */
  private async awaitedOutcome(
    { requestId, fields }: AcceptedReply,
    caller: Caller,
    seconds: number,
    base: string,
    response: ServerResponse,
  ): Promise<Reply | undefined> {
    const submitted = await this.find(caller, requestId);
    const row = await this.longPolls.wait(submitted, seconds, response, submitted.modelId);
    if (row?.state !== 'COMPLETED') return undefined;
    const status = JSON.stringify(toStatus(this.queue.snapshot(row), base));
    const output =
      row.outcome === 'succeeded' ? await this.queue.output(requestId, chargesOf(response.req)) : null;
    const body = output === null ? status : `${status.slice(0, -1)},"response":${output}}`;
    return { status: 200, fields, body };
  }

  /** Returns the row when the request has completed, or its current row when the caller's wait is over. */
  private async awaited(
    row: StatusRow,
    caller: Caller | undefined,
    response: ServerResponse,
  ): Promise<StatusRow> {
    const seconds = waitSeconds(response.req.headers.prefer);
    if (seconds === 0) return row;
    const hold = chargesOf(response.req)?.take('streams', 1);
    try {
      return (await this.longPolls.wait(row, seconds, response)) ?? (await this.find(caller, row.id));
    } finally {
      hold?.release();
    }
  }

  private log({ id, state, lastEventId }: StatusRow): Promise<LogEntry[]> {
    return state === 'IN_QUEUE' ? Promise.resolve([]) : this.queue.log(id, 0, lastEventId);
  }

  /**
   * Returns the model's output as JSON text. Throws the request's error if it did not succeed. A large output is
   * charged to the caller of `request` before it is read.
   */
  async output({ id, state, error }: StatusRow, request?: IncomingMessage): Promise<string> {
    if (state !== 'COMPLETED') throw notCompleted('Poll its status_url until it has.');
    if (error !== null) {
      const { code, message, status, timestamp, details } = error;
      throw new DomainError(code as ProblemCode, message, { status, timestamp, details });
    }
    const output = await this.queue.output(id, request && chargesOf(request));
    if (output === null) throw gone();
    return output;
  }
}

export function acceptedReply({ id, replayed }: Accepted, base: string): AcceptedReply {
  const queued = toQueuedRequest(base, id);
  const fields = ['Location', queued.status_url];
  if (replayed) fields.push('Idempotent-Replayed', 'true');
  return { status: 202, fields, body: JSON.stringify(queued), requestId: id };
}

/**
 * Returns what a read adds to the answer of a call that has taken effect. undefined: it was refused, and the call is not.
 * Only a caller that may see nothing more gets the error.
 */
export async function unlessRefused<Read>(read: Promise<Read>): Promise<Read | undefined> {
  try {
    return await read;
  } catch (thrown) {
    const error = ofDatabase(thrown);
    if (error instanceof DomainError && error.status !== 401 && error.status !== 403) return undefined;
    throw thrown;
  }
}

/** Two submissions are the same request if model, body and options are the same as written. */
export function fingerprintOf(modelId: string, body: Buffer | string, query: object): Buffer {
  return hashOf(aboutInput(modelId, query), body);
}

const aboutInput = (modelId: string, query: object): Fingerprint => ({
  before: `${modelId}\n`,
  after: writtenOptions(query),
});

export function gone(
  detail = 'The request is older than the retention of its model and was deleted.',
): DomainError {
  return new DomainError('gone', detail);
}

export function notCompleted(advice: string): DomainError {
  return new DomainError('not_completed', `The request has not completed yet. ${advice}`, {
    retryAfterSeconds: 1,
  });
}

function unknownRequest(): DomainError {
  return new DomainError('unknown_request', 'There is no such request, or it belongs to another key.');
}
