import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { DomainError } from '../../errors/domain-error.js';
import { FileUses } from '../file-uses.js';
import type { Submission } from '../queries/submission.js';
import { findHeld, type Known, submitOnce } from '../queries/submit-once.js';
import { submit, type Submitted } from '../queries/submit.js';
import { type Accepted, acceptedOf, type Idempotency, repeatedOf } from './accepted.js';
import { Backlog } from './backlog.js';
import { RequestIds } from './request-id.js';
import { howOf, SubmissionWriter } from './submission-writer.js';
import type { NewRequest } from './submissions.js';

export type BatchItem = NewRequest & { idempotency?: Idempotency | undefined };

type Incoming = BatchItem & Submission;

/** A submission of a batch, and its result. */
interface Entry {
  readonly request: BatchItem;
  result: Submitted | Known | Error | undefined;
}

/** Accepts many submissions in one call. */
@Injectable()
export class SubmissionBatches {
  constructor(
    private readonly database: Database,
    private readonly writer: SubmissionWriter,
    private readonly ids: RequestIds,
    private readonly files: FileUses,
    private readonly backlog: Backlog,
  ) {}

  /** Submits many requests of one API key, in one commit and in their order. */
  async submit(requests: readonly BatchItem[]): Promise<(Accepted | DomainError)[]> {
    const byKey = new Map<string, Entry>();
    const entries = requests.map((request) => entryOf(request, byKey));
    // Each entry once, in their order.
    let coming = [...new Set(entries)];
    let leave: (() => void) | undefined;
    if (requests.some(({ bounds }) => bounds !== undefined)) {
      coming = await this.withoutHeld(coming, byKey);
      const entered = await this.backlog.enterMany(coming.map(({ request }) => request));
      coming.forEach((entry, i) => (entry.result = entered.refusals[i]));
      coming = coming.filter(({ result }) => result === undefined);
      leave = entered.leave;
    }
    if (coming.length > 0) {
      const items = coming.map(({ request }) => ({ ...request, id: this.ids.next(), virtualStart: 0 }));
      const { result, visibleAfter } = await this.write(items, byKey.size > 0).finally(leave);
      await visibleAfter;
      coming.forEach((entry, i) => (entry.result = result[i]!));
    }
    return entries.map((entry, i) => outcomeOf(requests[i]!, entry));
  }

  /** Finds what was submitted before, even if there is no room for another submission. Returns the other entries. */
  private async withoutHeld(entries: readonly Entry[], byKey: ReadonlyMap<string, Entry>): Promise<Entry[]> {
    if (byKey.size === 0) return [...entries];
    const held = await findHeld(this.database, entries[0]!.request.keyId, [...byKey.keys()]);
    for (const [key, entry] of byKey) entry.result = held.get(key);
    return entries.filter(({ result }) => result === undefined);
  }

  private async write(items: Incoming[], isKeyed: boolean) {
    await this.files.ofInputs(items);
    return this.writer.write(
      items,
      (): Promise<(Submitted | Known | Error)[]> =>
        isKeyed ? this.writeOnce(items) : submit(this.database, items, howOf(items[0]!)),
      (written) => written,
    );
  }

  private writeOnce(items: readonly Incoming[]): Promise<(Submitted | Known | Error)[]> {
    const keyed = items.map(({ idempotency, ...item }) => ({
      ...item,
      ...(idempotency && { idempotencyKey: idempotency.key, fingerprint: idempotency.fingerprint }),
    }));
    return submitOnce(this.database, keyed, howOf(items[0]!));
  }
}

/** Joins requests with one idempotency key: the first one is the submission. */
function entryOf(request: BatchItem, byKey: Map<string, Entry>): Entry {
  const key = request.idempotency?.key;
  const first = key === undefined ? undefined : byKey.get(key);
  if (first !== undefined) return first;
  const entry = { request, result: undefined };
  if (key !== undefined) byKey.set(key, entry);
  return entry;
}

/** `request`: the entry's own, or another with the same idempotency key. */
function outcomeOf(request: BatchItem, { request: first, result }: Entry): Accepted | DomainError {
  if (result instanceof DomainError) return result;
  const own = request === first ? result! : repeatedOf(result!, first.idempotency!.fingerprint);
  return acceptedOf(own, request.idempotency?.fingerprint);
}
