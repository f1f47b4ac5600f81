import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { DomainError } from '../../errors/domain-error.js';
import type { Model } from '../../models/model.js';
import { BoundedCache } from '../../tools/bounded-cache.js';
import { countWaitingOf } from '../queries/waiting.js';
import { WaitingIndex } from '../waiting/waiting-index.js';

/** So old may the count of a key be; what it submitted here since is added. */
const countedForMs = 1_000;
const retryAfterSeconds = 5;

interface KeyBounds {
  readonly keyId: string;
  /** null: none. */
  readonly maxWaiting: number | null;
}

/** What may wait, of a model and of a key. Several nodes may pass a bound by what each has not heard of the others. */
@Injectable()
export class Backlog {
  private readonly counts = new BoundedCache<{ waiting: number }>(10_000);

  constructor(
    private readonly database: Database,
    private readonly index: WaitingIndex,
  ) {}

  /**
   * Throws `queue_full`. A promise only where the key's waiting requests have to be counted. `coming`: how many of the
   * model are to be written before it.
   */
  assertRoom(
    { id, maxWaiting }: Pick<Model, 'id' | 'maxWaiting'>,
    key: KeyBounds,
    coming = 0,
  ): Promise<void> | undefined {
    if (maxWaiting !== null && this.index.depth(id) + coming >= maxWaiting)
      throw full(`${maxWaiting} requests wait for ${id}, and no more may.`);
    return key.maxWaiting === null ? undefined : this.countKey(key.keyId, key.maxWaiting);
  }

  private async countKey(keyId: string, maxWaiting: number): Promise<void> {
    const now = performance.now();
    let count = this.counts.get(keyId, now);
    if (count === undefined) {
      count = { waiting: await countWaitingOf(this.database, keyId, maxWaiting) };
      this.counts.set(keyId, count, now + countedForMs);
    }
    if (count.waiting >= maxWaiting) throw full(`${maxWaiting} requests of this key wait, and no more may.`);
    count.waiting++;
  }
}

function full(reason: string): DomainError {
  return new DomainError('queue_full', `${reason} Try again once some have started.`, { retryAfterSeconds });
}
