import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { DomainError } from '../../errors/domain-error.js';
import { FileUses } from '../file-uses.js';
import type { Submission } from '../queries/submission.js';
import { findKnown, type Known, submit, submitManyOnce, type Submitted } from '../queries/submit.js';
import { type Accepted, acceptedOf, type Idempotency } from './accepted.js';
import { Backlog, type Leave } from './backlog.js';
import { RequestIds } from './request-id.js';
import { howOf, SubmissionWriter } from './submission-writer.js';
import type { NewRequest } from './submissions.js';

export type BatchItem = NewRequest & { idempotency?: Idempotency | undefined };

type Incoming = BatchItem & Submission;

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

  /** Many of one API key, in one commit and in their order. */
  async submit(requests: readonly BatchItem[]): Promise<(Accepted | DomainError)[]> {
    const results: (Accepted | DomainError | undefined)[] = [];
    const leaves: Leave[] = [];
    try {
      for (const request of requests) results.push(await this.enterOne(request, leaves));
      const items = requests.flatMap((request, i) =>
        results[i] === undefined ? [{ ...request, id: this.ids.next(), virtualStart: 0 }] : [],
      );
      const written = items.length === 0 ? [] : await this.writeMany(items);
      return results.map((one) => one ?? written.shift()!);
    } finally {
      for (const leave of leaves) leave();
    }
  }

  /** Of a batch: what was submitted before, or why it cannot be; undefined: it is to be written. */
  private async enterOne(item: BatchItem, leaves: Leave[]): Promise<Accepted | DomainError | undefined> {
    try {
      const leave = await this.backlog.enter(item, false);
      if (leave !== undefined) leaves.push(leave);
      return undefined;
    } catch (error) {
      if (!(error instanceof DomainError) || error.code === 'unavailable') throw error;
      const { keyId, idempotency } = item;
      const known = idempotency && (await findKnown(this.database, keyId, idempotency));
      return known === undefined ? error : acceptedOf(known);
    }
  }

  private async writeMany(items: readonly Incoming[]): Promise<(Accepted | DomainError)[]> {
    await this.files.ofInputs(items);
    // Of several with one key the first is the submission.
    const firsts = new Map<string, string>();
    for (const { id, idempotency } of items)
      if (idempotency !== undefined && !firsts.has(idempotency.key)) firsts.set(idempotency.key, id);
    const firstOf = ({ id, idempotency }: Incoming): string =>
      idempotency === undefined ? id : firsts.get(idempotency.key)!;
    const placed = items.filter((item) => firstOf(item) === item.id);
    const { result, visibleAfter } = await this.writer.write(
      placed,
      () => (firsts.size === 0 ? submit(this.database, placed, howOf(placed[0]!)) : this.writeOnce(placed)),
      (written) => written,
    );
    await visibleAfter;
    const written = new Map(placed.map((item, i) => [item.id, { item, result: result[i]! }]));
    return items.map((item) => {
      const first = written.get(firstOf(item))!;
      return first.item === item ? acceptedOf(first.result) : repeated(item, first.item, first.result);
    });
  }

  private writeOnce(items: readonly Incoming[]): Promise<(Submitted | Known)[]> {
    const keyed = items.map(({ idempotency, ...item }) => ({
      ...item,
      ...(idempotency && { idempotencyKey: idempotency.key, fingerprint: idempotency.fingerprint }),
    }));
    return submitManyOnce(this.database, keyed, howOf(items[0]!));
  }
}

/** `item` has the key of another before it in its batch. */
function repeated(item: BatchItem, first: BatchItem, result: Submitted | Known): Accepted | DomainError {
  const isSame = first.idempotency!.fingerprint.equals(item.idempotency!.fingerprint);
  return acceptedOf({ id: result.id, sameRequest: isSame && ('seq' in result || result.sameRequest) });
}
