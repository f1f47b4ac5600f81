import { Injectable } from '@nestjs/common';

import { assertMayUse, type Caller, mayUse } from '../auth/caller.js';
import { DomainError } from '../errors/domain-error.js';
import type { ProblemCode } from '../errors/problem-codes.js';
import { hint } from '../models/closest.js';
import { isModelId } from '../models/model-id.js';
import { ModelsService } from '../models/models.service.js';
import type { LogEntry } from '../queue/runs/run-log.js';
import type { StatusRow } from '../queue/status-row.js';
import { QueueService } from '../queue/queue.service.js';
import { Retention } from '../queue/retention.js';
import { isRequestId } from '../queue/submit/request-id.js';
import { type Accepted, Submissions } from '../queue/submit/submissions.js';
import { fingerprintOf } from './fingerprint.js';
import { parseInputBody } from './input-body.js';
import { toStatusView, type StatusView } from './status-view.js';

/** The rules of the four calls; knows callers and models, but no HTTP. */
@Injectable()
export class RequestsService {
  constructor(
    private readonly models: ModelsService,
    private readonly submissions: Submissions,
    private readonly queue: QueueService,
    private readonly retention: Retention,
  ) {}

  /** Resolves once the request is committed. */
  async submit(
    caller: Caller,
    modelId: string | undefined,
    body: Buffer,
    idempotencyKey: string | undefined,
  ): Promise<Accepted> {
    if (modelId !== undefined) assertMayUse(caller, modelId);
    const model = modelId === undefined ? undefined : this.models.get(modelId);
    if (model === undefined) throw this.unknownModel(caller, modelId);
    const { text, bytes, value } = parseInputBody(body);
    const errors = model.validate(value);
    if (errors.length > 0) {
      throw new DomainError('invalid_input', `The input does not fit the schema of ${model.id}.`, { errors });
    }
    const { expiresMs } = model;
    const request = { modelId: model.id, keyId: caller.keyId, priority: 0, input: bytes, expiresMs };
    if (idempotencyKey === undefined) return { id: await this.submissions.submit(request), replayed: false };
    return this.submissions.submitOnce(request, {
      key: idempotencyKey,
      fingerprint: fingerprintOf(model.id, text),
    });
  }

  /** Suggests only what the caller may use: a key is told of no other models. */
  private unknownModel(caller: Caller, modelId = ''): DomainError {
    const usable = this.models.all().flatMap(({ id }) => (mayUse(caller, id) ? [id] : []));
    const name = isModelId(modelId) ? `model "${modelId}"` : 'such model';
    return new DomainError('unknown_model', `There is no ${name} here${hint(modelId, usable) || '.'}`);
  }

  /** A request that is not the caller's is as unknown as one that never was. */
  async find(caller: Caller | undefined, requestId: string): Promise<StatusRow> {
    const row = isRequestId(requestId) ? await this.queue.status(requestId) : undefined;
    if (row === undefined && isRequestId(requestId) && this.retention.mayHaveRemoved(requestId)) throw gone();
    if (row === undefined || (caller !== undefined && caller.keyId !== row.keyId)) throw unknownRequest();
    if (this.retention.isOver(row)) throw gone();
    return row;
  }

  async status(
    caller: Caller | undefined,
    requestId: string,
    withLogs: boolean,
    base: string,
  ): Promise<StatusView> {
    const row = await this.find(caller, requestId);
    const logs = withLogs ? await this.log(row) : undefined;
    return toStatusView({ row, base, position: () => this.queue.position(row), logs });
  }

  log(row: StatusRow): Promise<LogEntry[]> {
    return row.state === 'IN_QUEUE' ? Promise.resolve([]) : this.queue.log(row.id, 0, row.lastEventId);
  }

  /** The model's output as JSON text; throws what the request ended with when that is no success. */
  async output(row: StatusRow): Promise<string> {
    if (row.state !== 'COMPLETED') {
      throw new DomainError(
        'not_completed',
        'The request has not completed yet. Ask its status_url, then come back.',
        {
          retryAfterSeconds: 1,
        },
      );
    }
    if (row.error !== null) {
      const { code, message, status, timestamp, details } = row.error;
      throw new DomainError(code as ProblemCode, message, {
        status,
        timestamp,
        ...(details === undefined ? {} : { details }),
      });
    }
    const output = await this.queue.output(row.id);
    if (output === null) throw gone();
    return output;
  }

  async cancel(
    caller: Caller | undefined,
    requestId: string,
  ): Promise<'CANCELLED' | 'CANCELLATION_REQUESTED'> {
    const row = await this.find(caller, requestId);
    switch (await this.queue.cancel(row.id)) {
      case 'cancelled':
      case 'already_cancelled':
        return 'CANCELLED';
      case 'requested':
        return 'CANCELLATION_REQUESTED';
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
}

function gone(): DomainError {
  return new DomainError('gone', 'The request was kept as long as its model keeps requests, and is gone.');
}

function unknownRequest(): DomainError {
  return new DomainError('unknown_request', 'There is no such request, or it belongs to another key.');
}
