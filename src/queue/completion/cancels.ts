import { Injectable } from '@nestjs/common';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import type { Queries } from '../../database/statement.js';
import { cancel, type Cancelled } from './queries/cancel.js';
import { cancelMany, type Meant } from './queries/cancel-many.js';
import { openRequests } from '../reads/queries/list-requests.js';
import { type EndedWaiting, QueueEvents } from '../queue-events.js';
import { requestErrors } from '../request-errors.js';
import type { RequestFilter } from '../reads/request-filter.js';
import type { RequestState } from '../request-state.js';
import { Retention } from '../retention/retention.js';

/** The most requests that one cancel by filter reaches. */
const maxCancelled = 10_000;
/** At most this many statements cancel many requests at once. The rest are cancelled one by one. */
const maxLooks = 3;

interface CancelOptions {
  /** A request in another state is left as it is. */
  state?: RequestState | undefined;
  /** Receives the result in the same transaction, before the commit. */
  accounting?: (queries: Queries, result: Cancelled['result']) => Promise<void>;
}

/**
 * Cancels requests. Those that wait are completed. The runs of the others are asked to stop: `publish` notifies their
 * nodes, and the next heartbeat of a node finds a cancel whose message was lost.
 */
@Injectable()
export class Cancels {
  constructor(
    private readonly database: Database,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
    private readonly retention: Retention,
  ) {}

  /** undefined: there is no such request, or none in this state. The result is never `moved`. */
  async one(id: string, { state, accounting }: CancelOptions = {}): Promise<Cancelled | undefined> {
    const error = requestErrors.cancelled(this.clock.now());
    const tryOnce = async (queries: Queries): Promise<Cancelled | undefined> => {
      const found = await cancel(queries, id, error, state);
      if (found !== undefined && found.result !== 'moved') await accounting?.(queries, found.result);
      return found;
    };
    for (;;) {
      const found =
        accounting === undefined
          ? await tryOnce(this.database)
          : await this.database.transaction((query) => tryOnce({ query }));
      if (found?.result === 'moved') continue;
      if (found?.result === 'cancelled') this.publish([{ id, ...found }], []);
      if (found?.result === 'requested') this.publish([], [id]);
      return found;
    }
  }

  /** Cancels requests of a key. `ids` has no id twice. Requests in another state than `state` are not counted. */
  async many(keyId: string, ids: readonly string[], state?: RequestState) {
    const counts = { cancelled: 0, cancellationRequested: 0, alreadyCompleted: 0, unknown: 0 };
    // Requests that moved meanwhile are tried again, finally one by one.
    let left = ids;
    for (let looks = 0; looks < maxLooks && left.length > 0; looks++) {
      const some = await this.among(this.database, { keyId, state }, left);
      some.publish();
      const gone = some.completed.filter((row) => row.erasedAtMs !== null || this.retention.isOver(row));
      counts.cancelled += some.cancelled;
      counts.cancellationRequested += some.requested;
      counts.alreadyCompleted += some.completed.length - gone.length;
      counts.unknown += gone.length + (state === undefined ? left.length - some.found : 0);
      left = some.moved;
    }
    for (const id of left) {
      const result = (await this.one(id, { state }))?.result;
      if (result === 'cancelled') counts.cancelled++;
      else if (result === 'requested') counts.cancellationRequested++;
      else if (result === 'completed') counts.alreadyCompleted++;
    }
    return counts;
  }

  /** Cancels the open requests of a key that match the filter. `more`: there are more than one call cancels. */
  async fitting(keyId: string, filter: RequestFilter) {
    const ids = await openRequests(this.database, keyId, filter, maxCancelled + 1);
    const counts = await this.many(keyId, ids.slice(0, maxCancelled), filter.state);
    return { ...counts, more: ids.length > maxCancelled };
  }

  /**
   * Cancels the requests of these ids that match `meant`, in one statement, in the transaction of `queries`. The caller
   * calls `publish` after the commit, and tries the requests in `moved` again: they were claimed, requeued or locked
   * meanwhile.
   */
  async among(queries: Queries, meant: Meant, ids: readonly string[]) {
    const error = requestErrors.cancelled(this.clock.now());
    const { targets, cancelled, requested } = await cancelMany(queries, meant, ids, error);
    const done = new Set([...cancelled, ...requested]);
    const left = targets.filter(({ id }) => !done.has(id));
    const waited = new Set(cancelled);
    const ended = targets.filter(({ id }) => waited.has(id));
    return {
      cancelled: cancelled.length,
      requested: requested.length,
      completed: left.filter(({ state }) => state === 'COMPLETED'),
      moved: left.flatMap(({ id, state }) => (state === 'COMPLETED' ? [] : id)),
      found: targets.length,
      publish: () => this.publish(ended, requested),
    };
  }

  private publish(ended: readonly EndedWaiting[], requested: string[]): void {
    if (ended.length + requested.length > 0) this.events.publishEnded('cancelled', ended, requested);
  }
}
