import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { DomainError } from '../errors/domain-error.js';
import type { Reply } from '../http/reply.js';
import { type BatchBody, type BatchEntry, readBatch } from '../json/batch-body.js';
import { assertFits, fromPlain } from '../json/jobs.js';
import { JsonThreads } from '../json/json-threads.js';
import type { CountItems } from '../limits/counting.js';
import { maxInlineBytes } from '../models/input-schemas.js';
import { ModelsService } from '../models/models.service.js';
import { QueueEvents } from '../queue/queue-events.js';
import { type NewRequest, Submissions } from '../queue/submit/submissions.js';
import { traceContextOf } from '../tracing/trace-context.js';
import { Slices } from '../tools/slices.js';
import { idempotencyKey } from './dto/collection.dto.js';
import { submitOptions } from './dto/submit.query.js';
import { assertKnown } from '../http/input/option.js';
import { NewRequests, withOptions } from './new-requests.js';
import { fingerprintOf } from './request-handlers.js';
import { toQueuedRequest } from './status-view.js';

/** Handles many submissions in one call, each as if it were submitted alone. */
@Injectable()
export class Batch {
  constructor(
    private readonly newRequests: NewRequests,
    private readonly models: ModelsService,
    private readonly json: JsonThreads,
    private readonly submissions: Submissions,
    private readonly events: QueueEvents,
  ) {}

  async submit(
    caller: Caller,
    body: Buffer,
    headers: object,
    base: string,
    countItems: CountItems,
  ): Promise<Reply> {
    const { entries, unknownName } = await this.read(caller, body);
    if (unknownName !== undefined) assertKnown([[unknownName, undefined]], ['requests']);
    const { admitted, refusal } = await countItems(entries.length);
    const items: (NewRequest | DomainError)[] = [];
    const slices = new Slices();
    for (const [i, entry] of entries.entries()) {
      items.push(i < admitted ? this.itemOf(caller, entry, base) : refusal!);
      if (slices.isOver) await slices.next();
    }
    const good = items.flatMap((item) => (item instanceof DomainError ? [] : [item]));
    const trace = traceContextOf(headers);
    const accepted = await this.submissions.submitMany(good.map((item) => withOptions(item, trace)));
    const results = items.map((item) => (item instanceof DomainError ? item : accepted.shift()!));
    this.events.emit('submission.refused', () =>
      results.flatMap((one) => (one instanceof DomainError ? { code: one.code } : [])),
    );
    const waits = results.flatMap((one) =>
      one instanceof DomainError ? (one.options.retryAfterSeconds ?? []) : [],
    );
    const fields = waits.length === 0 ? [] : ['Retry-After', String(Math.ceil(Math.max(...waits)))];
    return {
      status: 200,
      fields,
      body: JSON.stringify({ results: results.map((one) => toResult(one, base)) }),
    };
  }

  /** Reads the body in a thread if it is large or slow to check. */
  private async read({ keyId }: Caller, body: Buffer): Promise<BatchBody> {
    if (body.length <= maxInlineBytes) {
      let isSlow = false;
      const read = readBatch(body, (modelId, input) => {
        const model = typeof modelId === 'string' ? this.models.get(modelId) : undefined;
        isSlow ||= model !== undefined && body.length > model.maxInlineBytes;
        if (model !== undefined && !isSlow) assertFits(model.id, model.validate(input));
        return model !== undefined;
      });
      if (!isSlow) return read;
    }
    const [{ entries, unknownName }, inputs] = await this.json.run('batch', {}, body, { caller: keyId });
    let from = 0;
    return {
      unknownName,
      entries: entries.map(({ end, refusal, ...entry }) => {
        const input = end === undefined ? undefined : inputs.subarray(from, (from = end));
        return { ...entry, input, refusal: refusal && fromPlain(refusal) };
      }),
    };
  }

  private itemOf(caller: Caller, entry: BatchEntry, base: string): NewRequest | DomainError {
    try {
      return this.checked(caller, entry, base);
    } catch (error) {
      // Any other error is a bug, or concerns all entries.
      if (error instanceof DomainError && error.code !== 'unavailable') return error;
      throw error;
    }
  }

  private checked(caller: Caller, entry: BatchEntry, base: string): NewRequest {
    const { fields, input, refusal, isChecked } = entry;
    if (fields === undefined) throw refusal!;
    const { model_id: modelId, idempotency_key: written, ...plain } = fields;
    if (typeof modelId !== 'string')
      throw new DomainError('bad_request', 'An entry needs a "model_id", a text.');
    const key = written === undefined ? undefined : idempotencyKey.read(written);
    const model = this.newRequests.modelOf(caller, modelId);
    const options = submitOptions(plain);
    if (input === undefined) throw refusal!;
    // The model was added while the batch was read.
    if (!isChecked && model.inputSchema !== null)
      throw new DomainError('unknown_model', `There is no model "${modelId}" here.`);
    const request = this.newRequests.of(caller, model, input, options, base);
    const fingerprint = key !== undefined && fingerprintOf(model.id, input, plain);
    return { ...request, ...(fingerprint && { idempotency: { key, fingerprint } }) };
  }
}

function toResult(result: { id: string } | DomainError, base: string): object {
  if (!(result instanceof DomainError)) return { status: 202, ...toQueuedRequest(base, result.id) };
  const { status, code, message: detail, options } = result;
  return { status, code, detail, errors: options.errors };
}
