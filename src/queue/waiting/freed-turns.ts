import type { EntryChange } from './waiting-index.js';

/** Fewer freed turns in front of waiting requests are left as they are: moving the requests would cost more. */
const minTurns = 4;
/** For this long after the last removal, nodes that did not know of it may still place requests. */
const watchedMs = 2_000;

interface FreedKey {
  modelId: string;
  priority: number;
  orderKey: number;
  turns: number;
  until: number;
}

/** Keys whose requests left without a start, lately and on this node: their requests behind those may move up. */
export class FreedTurns {
  private readonly byName = new Map<string, FreedKey>();

  note(removed: readonly EntryChange[], now: number): void {
    for (const { modelId, priority, orderKey } of removed) {
      const name = `${modelId} ${priority} ${orderKey}`;
      const freed = this.byName.get(name);
      if (freed === undefined) {
        const until = now + watchedMs;
        this.byName.set(name, { modelId, priority, orderKey: orderKey ?? 0, turns: 1, until });
      } else Object.assign(freed, { turns: freed.turns + 1, until: now + watchedMs });
    }
  }

  /** Returns the order keys of each model and priority. Drops those that are no longer watched. */
  due(now: number): { modelId: string; priority: number; orderKeys: number[] }[] {
    const queues = new Map<string, { modelId: string; priority: number; orderKeys: number[] }>();
    for (const [name, { modelId, priority, orderKey, turns, until }] of this.byName) {
      if (now >= until) this.byName.delete(name);
      else if (turns >= minTurns) {
        const queue = `${modelId} ${priority}`;
        const known = queues.get(queue);
        if (known === undefined) queues.set(queue, { modelId, priority, orderKeys: [orderKey] });
        else known.orderKeys.push(orderKey);
      }
    }
    return [...queues.values()];
  }

  get isEmpty(): boolean {
    return this.byName.size === 0;
  }
}
