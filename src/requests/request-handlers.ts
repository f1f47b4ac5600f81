import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { assertMayUse, type Caller, mayUse } from '../auth/caller.js';
import { DomainError } from '../errors/domain-error.js';
import type { ProblemCode } from '../errors/problem-codes.js';
import type { Reply } from '../http/reply.js';
import { validated } from '../http/validated.js';
import { hint } from '../models/closest.js';
import type { Model } from '../models/model.js';
import { isModelId } from '../models/model-id.js';
import { ModelsService } from '../models/models.service.js';
import type { LogEntry } from '../queue/runs/run-log.js';
import type { StatusRow } from '../queue/status-row.js';
import { QueueService } from '../queue/queue.service.js';
import { Retention } from '../queue/retention.js';
import { isRequestId } from '../queue/submit/request-id.js';
import { Submissions } from '../queue/submit/submissions.js';
import { LogsQuery } from './dto/logs.query.js';
import { SubmitHeaders } from './dto/submit.headers.js';
import { parseInputBody } from './input-body.js';
import { toLogEntry, toMetrics, toQueuedRequest, toStatus } from './status-view.js';

/**
 * The rules of the four calls and their answers, whichever door they came by: the fast path or the controller.
 * `base` is what the URLs in an answer begin with.
 */
@Injectable()
export class RequestHandlers {
  constructor(
    private readonly models: ModelsService,
    private readonly submissions: Submissions,
    private readonly queue: QueueService,
    private readonly retention: Retention,
  ) {}

  /** Resolves once the request is committed. `modelId`: undefined if the path names none. */
  async submit(
    caller: Caller,
    modelId: string | undefined,
    body: Buffer,
    headers: object,
    base: string,
  ): Promise<Reply> {
    const { 'idempotency-key': key } = validated(SubmitHeaders, headers);
    const model = this.modelOf(caller, modelId);
    const { text, bytes: input, value } = parseInputBody(body);
    const errors = model.validate(value);
    if (errors.length > 0) {
      throw new DomainError('invalid_input', `The input does not fit the schema of ${model.id}.`, { errors });
    }
    const { expiresMs } = model;
    const request = { modelId: model.id, keyId: caller.keyId, priority: 0, input, expiresMs };
    const { id, replayed } =
      key === undefined
        ? { id: await this.submissions.submit(request), replayed: false }
        : await this.submissions.submitOnce(request, { key, fingerprint: fingerprintOf(model.id, text) });
    const queued = toQueuedRequest(base, id);
    const fields = ['Location', queued.status_url];
    if (replayed) fields.push('Idempotent-Replayed', 'true');
    return { status: 202, fields, body: JSON.stringify(queued) };
  }

  async status(caller: Caller | undefined, requestId: string, query: object, base: string): Promise<Reply> {
    const { logs } = validated(LogsQuery, query);
    const row = await this.find(caller, requestId);
    const entries = logs ? await this.log(row) : undefined;
    const position = row.state === 'IN_QUEUE' ? this.queue.position(row) : 0;
    return { status: 200, body: JSON.stringify(toStatus({ row, position }, base, entries)) };
  }

  async response(caller: Caller | undefined, requestId: string, query: object): Promise<Reply> {
    const { logs } = validated(LogsQuery, query);
    const row = await this.find(caller, requestId);
    const output = await this.output(row);
    if (!logs) return { status: 200, body: output };
    const entries = (await this.log(row)).map(toLogEntry);
    // The output goes through as the text it is: parsing and writing it again could change its numbers.
    const body =
      `{"request_id":${JSON.stringify(row.id)},"status":"COMPLETED","response":${output},` +
      `"logs":${JSON.stringify(entries)},"metrics":${JSON.stringify(toMetrics(row))}}`;
    return { status: 200, body };
  }

  async cancel(caller: Caller | undefined, requestId: string): Promise<Reply> {
    const { id } = await this.find(caller, requestId);
    switch (await this.queue.cancel(id)) {
      case 'cancelled':
      case 'already_cancelled':
        return { status: 200, body: JSON.stringify({ status: 'CANCELLED' }) };
      case 'requested':
        return { status: 202, body: JSON.stringify({ status: 'CANCELLATION_REQUESTED' }) };
      case 'already_completed':
        throw new DomainError(
          'already_completed',
          'The request has completed; there is nothing left to cancel.',
          {
            extensions: { cancel_status: 'ALREADY_COMPLETED' },
          },
        );
      case 'unknown':
        throw unknownRequest();
    }
  }

  /** A request that is not the caller's is as unknown as one that never was. */
  async find(caller: Caller | undefined, requestId: string): Promise<StatusRow> {
    if (!isRequestId(requestId)) throw unknownRequest();
    const row = await this.queue.status(requestId);
    if (row === undefined) throw this.retention.mayHaveRemoved(requestId) ? gone() : unknownRequest();
    if (caller !== undefined && caller.keyId !== row.keyId) throw unknownRequest();
    if (this.retention.isOver(row)) throw gone();
    return row;
  }

  private modelOf(caller: Caller, modelId: string | undefined): Model {
    if (modelId !== undefined) assertMayUse(caller, modelId);
    const asked = modelId ?? '';
    const model = this.models.get(asked);
    if (model !== undefined) return model;
    // Suggests only what the caller may use: a key is told of no other models.
    const usable = this.models.all().flatMap(({ id }) => (mayUse(caller, id) ? [id] : []));
    const name = isModelId(asked) ? `model "${asked}"` : 'such model';
    throw new DomainError('unknown_model', `There is no ${name} here${hint(asked, usable) || '.'}`);
  }

  private log({ id, state, lastEventId }: StatusRow): Promise<LogEntry[]> {
    return state === 'IN_QUEUE' ? Promise.resolve([]) : this.queue.log(id, 0, lastEventId);
  }

  /** The model's output as JSON text; throws what the request ended with when that is no success. */
  private async output({ id, state, error }: StatusRow): Promise<string> {
    if (state !== 'COMPLETED') {
      const detail = 'The request has not completed yet. Ask its status_url, then come back.';
      throw new DomainError('not_completed', detail, { retryAfterSeconds: 1 });
    }
    if (error !== null) {
      const { code, message, status, timestamp, details } = error;
      throw new DomainError(code as ProblemCode, message, { status, timestamp, details });
    }
    const output = await this.queue.output(id);
    if (output === null) throw gone();
    return output;
  }
}

/** Two submissions are the same request when model and body are. */
function fingerprintOf(modelId: string, body: string): Buffer {
  return createHash('sha256').update(modelId).update('\n').update(body).digest();
}

function gone(): DomainError {
  return new DomainError('gone', 'The request was kept as long as its model keeps requests, and is gone.');
}

function unknownRequest(): DomainError {
  return new DomainError('unknown_request', 'There is no such request, or it belongs to another key.');
}
