import { Injectable } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { EntryChange } from './waiting/waiting-index.js';

/** What one committed statement changed. Every change of the queue is published as one of these, after its commit. */
export interface QueueChanges {
  /** Requests that wait from now on. */
  added?: EntryChange[];
  /** Requests that wait no longer. */
  removed?: EntryChange[];
  /** Models that may have something to claim now. */
  work?: string[];
  /** Requests whose state or log changed. */
  changed?: string[];
  /** Running requests asked to stop. */
  cancelled?: string[];
  /** Messages of other nodes may have been lost: read again what depends on them. */
  missed?: true;
}

export type Origin = 'here' | 'elsewhere';

type Listener = (changes: QueueChanges, origin: Origin) => void;

const eventName = 'queue.changes';

/** The queue's changes on the process's event emitter, with their type. */
@Injectable()
export class QueueEvents {
  constructor(private readonly emitter: EventEmitter2) {}

  publish(changes: QueueChanges, origin: Origin = 'here'): void {
    this.emitter.emit(eventName, changes, origin);
  }

  /** Returns what undoes it. */
  subscribe(listener: Listener): () => void {
    this.emitter.on(eventName, listener);
    return () => this.emitter.off(eventName, listener);
  }
}
