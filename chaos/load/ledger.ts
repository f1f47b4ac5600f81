import type { ServiceNode } from '../cluster/service-node.js';
import { now } from '../clock.js';
import type { Caller } from './caller.js';

/** The end of a request as its caller saw it. */
export interface SeenEnd {
  success: boolean;
  code: string | null;
  node: string;
}

/** A submission that was sent under one marker. */
export interface Sent {
  readonly modelId: string;
  readonly marker: string;
  readonly caller: Caller;
}

/** One request as its caller knows it. */
export interface Entry extends Sent {
  readonly id: string;
  readonly acceptedAt: number;
  seenEnd?: SeenEnd;
  /** The last answer to a cancel. */
  cancel?: 'CANCELLED' | 'CANCELLATION_REQUESTED' | 'ALREADY_COMPLETED';
  /** The time at which that answer arrived. */
  cancelledAt?: number;
  output?: unknown;
}

export interface StreamEvent {
  /** The number of the connection that it came on. */
  connection: number;
  /** Its id, with which the next connection resumes. */
  place: string;
  /** The part of the id that ascends. */
  id: number;
  status: string;
  position: number | undefined;
  logs: string[];
}

/** One stream followed over its reconnects. */
export interface Followed {
  id: string;
  events: StreamEvent[];
  /** How many times the stream was opened. */
  opened: number;
  /** True if COMPLETED was seen. */
  ended: boolean;
}

/** One event of a stream of partial output. */
export interface OutputEvent {
  connection: number;
  node: string;
  id: string;
  say: 'output' | 'reset' | 'done';
  index?: number;
  delta?: unknown;
  attempt?: number;
  success?: boolean;
}

/** A stream of partial output followed over its reconnects. */
export interface FollowedOutput {
  id: string;
  events: OutputEvent[];
  opened: number;
  /** True if `done` was seen. */
  ended: boolean;
}

export interface Violation {
  rule: string;
  detail: string;
  requestId?: string;
}

/** Something that may happen only while a fault is in the way: a 5xx, or a connection that broke. */
export interface Disturbance {
  node: ServiceNode;
  what: string;
  from: number;
  to: number;
}

/** Records everything that the callers sent and were answered, to be reconciled with the database afterwards. */
export class Ledger {
  readonly accepted = new Map<string, Entry>();
  /** Submissions by marker. */
  readonly sent = new Map<string, Sent>();
  /** The ids that the submissions with an idempotency key were answered with, by that key. */
  readonly idsOfKey = new Map<string, Set<string>>();
  readonly followed: Followed[] = [];
  readonly followedOutputs: FollowedOutput[] = [];
  readonly disturbances: Disturbance[] = [];
  /** Calls that were answered beyond the bound of time. */
  readonly lateAnswers: Disturbance[] = [];
  readonly violations: Violation[] = [];
  readonly counts = new Map<string, number>();

  send(sent: Sent): void {
    this.sent.set(sent.marker, sent);
  }

  accept(id: string, { modelId, marker, caller }: Sent, idempotencyKey?: string): Entry {
    this.count('submissions accepted');
    if (idempotencyKey !== undefined) {
      const ids = this.idsOfKey.get(idempotencyKey) ?? new Set();
      this.idsOfKey.set(idempotencyKey, ids.add(id));
    }
    const known = this.accepted.get(id);
    if (known === undefined) {
      const entry = { id, modelId, marker, caller, acceptedAt: now() };
      this.accepted.set(id, entry);
      return entry;
    }
    if (known.marker !== marker) {
      this.violate('an id is given to one submission', `${known.marker} and ${marker}`, id);
    }
    return known;
  }

  see(entry: Entry, end: SeenEnd): void {
    const { seenEnd } = entry;
    if (seenEnd === undefined) entry.seenEnd = end;
    else if (seenEnd.success !== end.success || seenEnd.code !== end.code) {
      this.violate(
        'an end that was seen never changes',
        `${JSON.stringify(seenEnd)}, then ${JSON.stringify(end)}`,
        entry.id,
      );
    }
  }

  disturb(node: ServiceNode, what: string, from: number, to: number): void {
    this.disturbances.push({ node, what, from, to });
  }

  violate(rule: string, detail: string, requestId?: string): void {
    this.violations.push({ rule, detail, ...(requestId === undefined ? {} : { requestId }) });
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }
}
