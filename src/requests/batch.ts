import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { DomainError } from '../errors/domain-error.js';
import type { Reply } from '../http/reply.js';
import type { EnteredItems } from '../limits/gate.js';
import { QueueEvents } from '../queue/queue-events.js';
import { type BatchItem, SubmissionBatches } from '../queue/submit/submission-batches.js';
import { rawElements, rawMember } from '../tools/json-scanner.js';
import { traceContextOf } from '../tracing/trace-context.js';
import { assertKnown, submitOptions } from './dto/submit.query.js';
import { isObject, parseInputPart, parseObjectBody } from './input-body.js';
import { NewRequests, withOptions } from './new-requests.js';
import { fingerprintOf } from './request-handlers.js';
import { toQueuedRequest } from './status-view.js';

const maxBatch = 1_000;
/** An input that is too deep is one bad entry; a body without bounds is not read at all. */
const levelsAround = 1_000;
const example = '{"requests": [{"model_id": "demo/text/echo", "input": {}}]}';

interface Entry {
  text: string;
  value: unknown;
}

/** Many submissions in one call: each as if it came by itself. */
@Injectable()
export class Batch {
  constructor(
    private readonly newRequests: NewRequests,
    private readonly submissions: SubmissionBatches,
    private readonly events: QueueEvents,
  ) {}

  /** `count`: counts so many items at the limits. */
  async submit(
    caller: Caller,
    body: Buffer,
    headers: object,
    base: string,
    count: (items: number) => Promise<EnteredItems>,
  ): Promise<Reply> {
    const entries = entriesOf(body);
    const { admitted, refusal } = await count(entries.length);
    const items = entries.map((entry, i) => (i < admitted ? this.itemOf(caller, entry, base) : refusal!));
    const good = items.flatMap((item) => (item instanceof DomainError ? [] : [item]));
    const trace = traceContextOf(headers);
    const accepted = await this.submissions.submit(good.map((item) => withOptions(item, trace)));
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

  private itemOf(caller: Caller, entry: Entry, base: string): BatchItem | DomainError {
    try {
      return this.checked(caller, entry, base);
    } catch (error) {
      // Anything else is a fault of ours, or of all entries.
      if (error instanceof DomainError && error.code !== 'unavailable') return error;
      throw error;
    }
  }

  private checked(caller: Caller, { text, value }: Entry, base: string): BatchItem {
    if (!isObject(value)) throw new DomainError('bad_request', `An entry is an object, as in ${example}.`);
    const { model_id: modelId, input, idempotency_key: written, ...plain } = value;
    if (typeof modelId !== 'string')
      throw new DomainError('bad_request', 'An entry has its "model_id", a text.');
    const key = idempotencyKey(written);
    const model = this.newRequests.modelOf(caller, modelId);
    const options = submitOptions(plain);
    const parsed = parseInputPart(rawMember(text, 'input') ?? '', input);
    const request = this.newRequests.of(caller, model, parsed, options, base);
    const fingerprint = key !== undefined && fingerprintOf(model.id, parsed.text, plain);
    return { ...request, ...(fingerprint && { idempotency: { key, fingerprint } }) };
  }
}

function entriesOf(body: Buffer): Entry[] {
  const { text, value } = parseObjectBody(body, { example, levelsAround });
  assertKnown(Object.entries(value), ['requests']);
  const { requests } = value;
  if (!Array.isArray(requests) || requests.length < 1 || requests.length > maxBatch) {
    throw new DomainError('bad_request', `"requests" takes 1 to ${maxBatch} entries, as in ${example}.`);
  }
  // From the text: parsed and written again, the numbers of an input could change.
  const texts = rawElements(rawMember(text, 'requests')!);
  return requests.map((one: unknown, i) => ({ value: one, text: texts[i]! }));
}

function idempotencyKey(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && /^[\x20-\x7e]{1,255}$/.test(value)) return value;
  throw new DomainError(
    'invalid_idempotency_key',
    'An "idempotency_key" takes 1 to 255 printable ASCII characters.',
  );
}

function toResult(result: { id: string } | DomainError, base: string): object {
  if (!(result instanceof DomainError)) return { status: 202, ...toQueuedRequest(base, result.id) };
  const { status, code, message: detail, options } = result;
  return { status, code, detail, errors: options.errors };
}
