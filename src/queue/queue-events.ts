import { Injectable } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { RequestEvents } from './request-events.js';
import type { EntryChange, VirtualTime } from './waiting/waiting-index.js';

export interface CircuitChange {
  modelId: string;
  /** True: the model was away, and the node has found it again. */
  isReached: boolean;
}

export interface NextProbe {
  modelId: string;
  /** Milliseconds since 1970, by the database's clock. */
  atMs: number;
}

/** More output of a running request. In the node that wrote it, the change also has the rows. */
export interface OutputRows {
  id: string;
  rows?: {
    /** How often the request was started. */
    attempt: number;
    /** Index of the first row. */
    first: number;
    /** JSON texts. */
    deltas: readonly string[];
  };
}

/** The changes of one statement, published after its commit. */
export interface QueueChanges {
  added?: EntryChange[];
  /** Waiting entries that no claim may take yet, because their keys are at their bounds. */
  held?: EntryChange[];
  /** Entries that were held until now. */
  released?: EntryChange[];
  /** Entries removed without having been started. */
  removed?: EntryChange[];
  /** Entries removed because their requests are in progress. */
  started?: EntryChange[];
  /** The virtual time of each queue, for a node that has just joined. */
  times?: VirtualTime[];
  /** Only within this node: a request waits for its scheduled time. */
  scheduled?: true;
  /** Models that may have something to claim now. */
  work?: string[];
  /** Requests whose state, log or progress changed. */
  changed?: string[];
  /** Output of running requests. */
  output?: OutputRows[];
  /** Running requests asked to stop. The node that executes a run aborts it. */
  toStop?: string[];
  /** Requests with runs that have lost their leases. The node or worker that still executes one stops it. */
  lost?: string[];
  /** Uids of workers that are new, or that have a new order of an operator. */
  workers?: string[];
  /** Changes of what a node finds away, once they are written. */
  circuits?: CircuitChange[];
  /** The next probes of models that are away. */
  nextProbes?: NextProbe[];
  /** Models with suspects: requests that are to run without others, because their runs broke together with others. */
  suspects?: string[];
  /** Models that an operator wants to be probed at once. */
  probeNow?: string[];
  /** Messages of other nodes may have been lost: subscribers read again what depends on them. */
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

/** The queue's changes and the events of requests, on the process's event emitter, with their types. */
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
      ...(requested && { toStop: requested }),
    });
    this.emit('request.completed', () =>
      ended.map(({ id, modelId, runs }) => ({ id, modelId, outcome, attempt: runs })),
    );
  }

  /** `list` is called only if there is a listener, because this happens thousands of times a second. */
  emit<Name extends keyof RequestEvents>(name: Name, list: () => RequestEvents[Name]): void {
    if (!this.emitter.hasListeners(name)) return;
    const events = list();
    if (events.length > 0) this.emitter.emit(name, events);
  }

  /** Subscribes like `@OnEvent`, but without its wrapper around each call, for frequent events. */
  on<Name extends keyof RequestEvents>(name: Name, listener: (events: RequestEvents[Name]) => void): void {
    this.emitter.on(name, listener);
  }

  subscribe(listener: (changes: QueueChanges, origin: Origin) => void): void {
    this.emitter.on(queueChanges, listener);
  }
}
