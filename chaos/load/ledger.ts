import { now } from '../clock.js';

/** What a caller was told of the end of a request. */
export interface SeenEnd {
  success: boolean;
  code: string | null;
  node: string;
}

/** One request as its caller knows it. */
export interface Entry {
  readonly id: string;
  readonly modelId: string;
  readonly marker: string;
  readonly acceptedAt: number;
  readonly heldBack: boolean;
  seenEnd?: SeenEnd;
  /** The last answer to a cancel. */
  cancel?: 'CANCELLED' | 'CANCELLATION_REQUESTED' | 'ALREADY_COMPLETED';
  output?: unknown;
}

export interface StreamEvent {
  /** The how-manieth connection carried it. */
  connection: number;
  id: number;
  status: string;
  position: number | undefined;
  logs: string[];
}

/** One stream followed over its reconnects. */
export interface Followed {
  id: string;
  events: StreamEvent[];
  /** How many times it was opened. */
  opened: number;
  /** Whether it came to its end: COMPLETED was seen. */
  ended: boolean;
}

export interface Violation {
  rule: string;
  detail: string;
  requestId?: string;
}

/** An admitted call of a limited key: it was admitted at some time between the two. */
export interface Admitted {
  sentAt: number;
  answeredAt: number;
}

/** Everything the callers were told, to be held against the books afterwards. */
export class Ledger {
  readonly accepted = new Map<string, Entry>();
  /** By idempotency key, the ids that its submissions were answered with. */
  readonly idsOfKey = new Map<string, Set<string>>();
  readonly followed: Followed[] = [];
  readonly admitted = { submit: [] as Admitted[], other: [] as Admitted[] };
  readonly violations: Violation[] = [];
  readonly counts = new Map<string, number>();

  accept(entry: Omit<Entry, 'acceptedAt'>, key?: string): Entry {
    this.count('submissions accepted');
    if (key !== undefined) {
      const ids = this.idsOfKey.get(key) ?? new Set();
      this.idsOfKey.set(key, ids.add(entry.id));
    }
    const known = this.accepted.get(entry.id);
    if (known !== undefined) return known;
    const added = { ...entry, acceptedAt: now() };
    this.accepted.set(entry.id, added);
    return added;
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

  violate(rule: string, detail: string, requestId?: string): void {
    this.violations.push({ rule, detail, ...(requestId === undefined ? {} : { requestId }) });
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }
}
