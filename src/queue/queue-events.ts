import { Injectable } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { RequestEvents } from './request-events.js';
import type { EntryChange, MovedEntry, VirtualTime } from './waiting/waiting-index.js';

export interface CircuitChange {
  modelId: string;
  /** It was away, and the node has found it again. */
  isReached: boolean;
}

/** There is more of the output of a running request; in the node that wrote them with the rows. */
export interface OutputRows {
  id: string;
  rows?: {
    /** How often it was started. */
    attempt: number;
    /** Index of the first. */
    first: number;
    /** JSON texts. */
    deltas: readonly string[];
  };
}

/** What one statement changed: published after its commit. */
export interface QueueChanges {
  added?: EntryChange[];
  /** Of those that wait, which no claim may take yet: their keys are at their bounds. */
  held?: EntryChange[];
  /** Held until now. */
  released?: EntryChange[];
  /** Without having been started. */
  removed?: EntryChange[];
  /** To an earlier place, for others of their keys were removed. */
  moved?: MovedEntry[];
  /** Removed, for they are in progress. */
  started?: EntryChange[];
  /** Where the order has come to, for a node that has just joined. */
  times?: VirtualTime[];
  /** Of this node: a request waits for its time. */
  scheduled?: true;
  /** Models that may have something to claim now. */
  work?: string[];
  /** Requests whose state, log or progress changed. */
  changed?: string[];
  /** Of running requests. */
  output?: OutputRows[];
  /** Running requests asked to stop. */
  cancelled?: string[];
  /** Requests whose workers have lost their leases. */
  lost?: string[];
  /** Uids of workers that are new, or that an operator has told something. */
  workers?: string[];
  /** What a node finds away has changed, and is written. */
  circuits?: CircuitChange[];
  /** Messages of other nodes may have been lost: read again what depends on them. */
  missed?: true;
}

/** A request that ended while it waited. */
export interface EndedWaiting extends EntryChange {
  id: string;
  /** Runs that it had. Starts that never reached the model do not count. */
  runs: number;
}

export type Origin = 'here' | 'elsewhere';

export const queueChanges = 'queue.changes';

/** The queue's changes and what happens to requests, on the process's event emitter, with their types. */
@Injectable()
export class QueueEvents {
  constructor(private readonly emitter: EventEmitter2) {}

  publish(changes: QueueChanges, origin: Origin = 'here'): void {
    this.emitter.emit(queueChanges, changes, origin);
  }

  /** Publishes what a cancel or expiry did: these ended while they waited, and these runs were asked to stop. */
  publishEnded(outcome: 'cancelled' | 'expired', ended: readonly EndedWaiting[], requested?: string[]): void {
    this.publish({
      removed: [...ended],
      changed: ended.map(({ id }) => id),
      ...(requested && { cancelled: requested }),
    });
    this.emit('request.completed', () =>
      ended.map(({ id, modelId, runs }) => ({ id, modelId, outcome, attempt: runs })),
    );
  }

  /** `list` is called only if anything listens: it happens thousands of times a second. */
  emit<Name extends keyof RequestEvents>(name: Name, list: () => RequestEvents[Name]): void {
    if (!this.emitter.hasListeners(name)) return;
    const events = list();
    if (events.length > 0) this.emitter.emit(name, events);
  }

  /** As `@OnEvent`, but without what that wraps around each call: for what counts. */
  on<Name extends keyof RequestEvents>(name: Name, listener: (events: RequestEvents[Name]) => void): void {
    this.emitter.on(name, listener);
  }

  subscribe(listener: (changes: QueueChanges, origin: Origin) => void): void {
    this.emitter.on(queueChanges, listener);
  }
}
