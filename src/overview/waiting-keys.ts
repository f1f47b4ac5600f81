import { Injectable } from '@nestjs/common';
import { ObservingDatabase } from '../database/observing-database.js';
import type { Model } from '../models/model.js';
import { orderKeyOf } from '../queue/waiting/fair-queue.js';
import { WaitingIndex } from '../queue/waiting/waiting-index.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { type KeyAtFront, type KeyName, readKeyNames, readKeysAtFront } from './queries/waiting-keys.js';

const maxKeys = 8;
const namedForMs = 60_000;

/** What the index does not know of the keys whose requests wait. */
export interface WaitingKeysRead {
  /** The keys with the most waiting requests, by `orderKeyOf`. */
  names: ReadonlyMap<number, KeyName>;
  /** The keys at the front of the queues whose order is that of arrival. */
  front: readonly KeyAtFront[];
}

/**
 * Counts the waiting requests of each key: all of them if keys take turns, otherwise those at the front, because the
 * index knows no keys then.
 */
@Injectable()
export class WaitingKeys {
  private readonly names = new BoundedCache<KeyName>(10_000);

  constructor(
    private readonly database: ObservingDatabase,
    private readonly index: WaitingIndex,
  ) {}

  async read(models: readonly Model[]): Promise<WaitingKeysRead> {
    const waiting = models.filter(({ id }) => this.index.depth(id) > 0);
    const byArrival = waiting.filter(({ order }) => order === 'arrival').map(({ id }) => id);
    const [names, front] = await Promise.all([
      this.namesOf(waiting.filter(({ order }) => order === 'fair')),
      byArrival.length === 0 ? [] : readKeysAtFront(this.database, byArrival),
    ]);
    for (const { keyId, name } of front) names.set(orderKeyOf(keyId), { keyId, name });
    return { names, front };
  }

  /** Returns how many requests of each key wait, by `orderKeyOf`. */
  countsOf({ id, order }: Model, { front }: WaitingKeysRead): Map<number, number> {
    if (order === 'fair') return this.index.waitingByKey(id);
    const counted = this.index.depth(id) === 0 ? [] : front.filter(({ modelId }) => modelId === id);
    return new Map(counted.map(({ keyId, waiting }) => [orderKeyOf(keyId), waiting]));
  }

  /** Returns the keys with the most waiting requests. */
  largestOf(counts: ReadonlyMap<number, number>, { names }: WaitingKeysRead): KeyName[] {
    return largest(counts).flatMap((orderKey) => names.get(orderKey) ?? []);
  }

  private async namesOf(models: readonly Model[]): Promise<Map<number, KeyName>> {
    const now = performance.now();
    const wanted = new Set(models.flatMap(({ id }) => largest(this.index.waitingByKey(id))));
    const named = new Map<number, KeyName>();
    for (const orderKey of wanted) {
      const name = this.names.get(String(orderKey), now);
      if (name !== undefined) named.set(orderKey, name);
    }
    const unnamed = [...wanted].filter((orderKey) => !named.has(orderKey));
    if (unnamed.length === 0) return named;
    for (const [orderKey, name] of await readKeyNames(this.database, unnamed)) {
      this.names.set(String(orderKey), name, now + namedForMs);
      named.set(orderKey, name);
    }
    return named;
  }
}

function largest(counts: ReadonlyMap<number, number>): number[] {
  const descending = [...counts].sort(([, one], [, other]) => other - one);
  return descending.slice(0, maxKeys).map(([orderKey]) => orderKey);
}
