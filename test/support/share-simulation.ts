import { DomainError } from '../../src/errors/domain-error.js';
import type { RateLimits } from '../../src/config/rate-limits.js';
import type { GoneHolder, HolderBeat, ShareStore, WriteRequest } from '../../src/limits/share-database.js';
import { type SomeAdmitted, ShareKeeper } from '../../src/limits/share-keeper.js';
import {
  type Admission,
  type BudgetKey,
  type Grant,
  type GrantRequest,
  idOf,
  type ShareRow,
} from '../../src/limits/budget.js';

/** How long a node waits for an answer of the database. */
const timeoutMs = 2_000;

const settled = Promise.resolve();

interface Event {
  at: number;
  work: () => void;
  turns: number;
}

/** Simulated time, which jumps from event to event. */
class SimulatedTime {
  now = 0;
  /** The next event is at the end. Most added events are soon, so that few entries move. */
  private readonly events: Event[] = [];

  /** `turns`: at most this many chained promises settle because of the event. */
  at(at: number, work: () => void, turns = 8): void {
    const event = { at: Math.max(at, this.now), work, turns };
    let first = 0;
    for (let last = this.events.length; first < last;) {
      const middle = (first + last) >> 1;
      if (this.events[middle]!.at > event.at) first = middle + 1;
      else last = middle;
    }
    this.events.splice(first, 0, event);
  }

  async run(until: number): Promise<void> {
    while (this.events.length > 0 && this.events.at(-1)!.at <= until) {
      const next = this.events.pop()!;
      this.now = next.at;
      next.work();
      for (let turn = 0; turn < next.turns; turn++) await settled;
    }
    this.now = until;
  }
}

/** The shares in PostgreSQL, by the rules of src/limits/share-database.ts. */
class SimulatedDatabase {
  private readonly holders = new Map<string, number>();
  private readonly rows = new Map<string, Map<string, ShareRow>>();
  private readonly asks = new Map<string, Map<string, BudgetKey>>();

  /** A late statement, which runs after a newer one of its holder, changes nothing, as in PostgreSQL. */
  readonly store = {
    register: (holder: string) => {
      this.holders.set(holder, 0);
      return { holders: this.others(holder), gone: this.gone() };
    },
    grant: (holder: string, requests: readonly GrantRequest[], gone: readonly GoneHolder[]) => {
      if (!this.holders.has(holder)) return { isKnown: false, grants: [], strays: [] };
      const forMs = new Map(gone.map((one) => [one.id, one.forMs]));
      const strays = new Set<string>();
      return {
        isKnown: true,
        grants: requests.map((request) => this.grant(holder, request, forMs, strays)),
        strays: [...strays],
      };
    },
    write: (beat: HolderBeat, { rows, forgotten, silent }: WriteRequest) => {
      const holder = beat.id;
      if (!this.isNewer(beat)) return { isKnown: false, holders: [], asked: [] };
      for (const row of rows) this.of(row.key).set(holder, row);
      for (const key of forgotten) this.of(key).delete(holder);
      for (const { id, beat: known } of silent) if (this.holders.get(id) === known) this.holders.delete(id);
      const asked = [...(this.asks.get(holder)?.values() ?? [])];
      this.asks.delete(holder);
      return { isKnown: true, holders: this.others(holder), asked };
    },
    prune: () => undefined,
    leave: (holder: string, rows: readonly ShareRow[]) => {
      this.holders.delete(holder);
      for (const row of this.rows.values()) row.delete(holder);
      for (const row of rows) if (row.used.some((used) => used > 0)) this.of(row.key).set(holder, row);
    },
  };

  private isNewer({ id, beat }: HolderBeat): boolean {
    if ((this.holders.get(id) ?? Infinity) >= beat) return false;
    this.holders.set(id, beat);
    return true;
  }

  private grant(
    holder: string,
    { key, limits, windowsMs, held, used, needed, wanted }: GrantRequest,
    gone: Map<string, number>,
    strays: Set<string>,
  ): Grant {
    const own = this.of(key).get(holder);
    const others = new Map([...this.of(key)].filter(([id]) => id !== holder));
    for (const id of others.keys()) if (!this.holders.has(id) && !gone.has(id)) strays.add(id);
    const free = limits.map((limit, i) => {
      const byOthers = [...others].map(([id, { shares, used }]) => {
        if (this.holders.has(id)) return shares[i]!;
        if ((gone.get(id) ?? -1) >= windowsMs[i]!) return 0;
        const beyond = i === 0 ? Infinity : shares[0]! * Math.ceil(7_000 / windowsMs[0]!);
        return Math.min(shares[i]!, used[i]! + beyond);
      });
      const unknown = Math.max(0, (own?.shares[i] ?? 0) - held[i]!);
      return Math.max(0, limit - held[i]! - byOthers.reduce((sum, share) => sum + share, unknown));
    });
    const shares = held.map((share, i) => share + Math.min(wanted[i]!, free[i]!));
    this.of(key).set(holder, {
      key,
      shares: shares.map((share, i) => Math.max(share, own?.shares[i] ?? 0)),
      used: used.map((count, i) => Math.max(Math.min(count, shares[i]!), own?.used[i] ?? 0)),
    });
    const isShort = needed.some((count, i) => count > free[i]!);
    if (isShort) {
      for (const id of others.keys()) {
        if (!this.holders.has(id)) continue;
        if (!this.asks.has(id)) this.asks.set(id, new Map());
        this.asks.get(id)!.set(idOf(key), key);
      }
    }
    return { shares, unallocated: free.map((count, i) => count - Math.min(wanted[i]!, count)), isShort };
  }

  private gone(): string[] {
    const named = new Set([...this.rows.values()].flatMap((row) => [...row.keys()]));
    return [...named].filter((id) => !this.holders.has(id));
  }

  private of(key: BudgetKey): Map<string, ShareRow> {
    let row = this.rows.get(idOf(key));
    if (row === undefined) this.rows.set(idOf(key), (row = new Map<string, ShareRow>()));
    return row;
  }

  private others(holder: string): { id: string; beat: number }[] {
    return [...this.holders].filter(([id]) => id !== holder).map(([id, beat]) => ({ id, beat }));
  }
}

export interface CallOutcome {
  at: number;
  answeredAt: number;
  result: 'admitted' | 'refused' | 'unavailable';
}

/** The keeper of shares of one node, with its own clock. It can be frozen, cut off from the database, or killed. */
export class SimulatedNode {
  private frozen: (() => void)[] | undefined;
  private isCutOff = false;
  private isDead = false;
  private readonly offset: number;
  readonly keeper: ShareKeeper;

  constructor(
    private readonly fleet: SimulatedFleet,
    private readonly random: () => number,
  ) {
    this.offset = Math.floor(random() * 1e6);
    this.keeper = new ShareKeeper(this.remote(fleet.database.store), {
      now: () => fleet.time.now + this.offset,
      after: (ms, work) => {
        let isOff = false;
        fleet.time.at(fleet.time.now + ms, () => this.wake(() => isOff || work()), 4);
        return () => (isOff = true);
      },
      hint: (kind, keys) =>
        fleet.publish(this, ({ keeper }) => (kind === 'asked' ? keeper.onAsked(keys) : keeper.onGiven(keys))),
    });
  }

  freeze(): void {
    this.frozen ??= [];
  }

  thaw(): void {
    const late = this.frozen ?? [];
    this.frozen = undefined;
    for (const work of late) this.wake(work);
  }

  cutOff(isCutOff: boolean): void {
    this.isCutOff = isCutOff;
  }

  kill(): void {
    this.isDead = true;
    this.fleet.leave(this);
  }

  /** Runs `work` now, when the node thaws, or never. */
  wake(work: () => void): void {
    if (this.isDead) return;
    if (this.frozen === undefined) work();
    else this.frozen.push(work);
  }

  /**
   * Makes `count` calls in one: `all` of them or none are admitted, or as many as there is room for. `done` is called
   * for each.
   */
  call(
    subject: string,
    limits: RateLimits,
    done: (outcome: CallOutcome) => void,
    { count = 1, all = true } = {},
  ): void {
    const at = this.fleet.time.now;
    const answer = (result: CallOutcome['result'], times = count): void => {
      for (let n = 0; n < times; n++) done({ at, answeredAt: this.fleet.time.now, result });
    };
    const settle = (admitted: number): void => {
      answer('admitted', admitted);
      answer('refused', count - admitted);
    };
    const counted = { subject, routeClass: 'submit', limits, hasKey: true } as const;
    const settleAll = ({ admitted }: Admission): void => settle(admitted ? count : 0);
    const settleSome = ({ admitted }: SomeAdmitted): void => settle(admitted);
    const unavailable = (): void => answer('unavailable');
    try {
      if (all) {
        const admission = this.keeper.admit(counted, count);
        if (admission instanceof Promise) admission.then(settleAll, unavailable);
        else settleAll(admission);
      } else {
        const some = this.keeper.admitSome(counted, count);
        if (some instanceof Promise) some.then(settleSome, unavailable);
        else settleSome(some);
      }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      answer('unavailable');
    }
  }

  /** The database behind a network that has latency, and loses messages while it is cut. */
  private remote(store: SimulatedDatabase['store']): ShareStore {
    const over =
      <Args extends unknown[], T>(work: (...args: Args) => T) =>
      (...args: Args): Promise<T> =>
        new Promise((resolve, reject) => {
          const { time, statements } = this.fleet;
          statements[work.name] = (statements[work.name] ?? 0) + 1;
          const fail = (): void => time.at(time.now + timeoutMs, () => this.wake(() => reject(lost())));
          if (this.isCutOff || this.fleet.isDatabaseAway) return fail();
          if (this.random() < this.fleet.faults.lateStatements) {
            fail();
            return time.at(time.now + this.random() * 3 * timeoutMs, () => work(...args));
          }
          // A grant times out after 2 s. Writes, which run one after another, have no timeout.
          const slowMs =
            work.name === 'write' && this.random() < (this.fleet.faults.slowWrites ?? 0)
              ? this.random() * slowMostMs
              : 0;
          time.at(time.now + this.latency() + slowMs, () => {
            const result = work(...args);
            if (this.isCutOff) return fail();
            time.at(time.now + this.latency(), () => this.wake(() => resolve(result)));
          });
        });
    return {
      register: over(store.register),
      grant: over(store.grant),
      write: over(store.write),
      prune: over(store.prune),
      leave: over(store.leave),
      useOfOthers: () => Promise.reject(new Error('The simulation has no quotas.')),
    };
  }

  private latency(): number {
    return 0.5 + this.random() * (this.random() < 0.02 ? 200 : 6);
  }
}

const slowMostMs = 5_000;

function lost(): DomainError {
  return new DomainError('unavailable', 'The database cannot be reached.');
}

/** Fractions, from 0 to 1. */
export interface Faults {
  /** Hints between nodes that are lost. */
  lostMessages: number;
  /** Statements that time out for the node, although the database runs them sooner or later. */
  lateStatements: number;
  /** Writes that are slow. Their rounds end when the node may admit no more. */
  slowWrites?: number;
}

export class SimulatedFleet {
  readonly time = new SimulatedTime();
  readonly database = new SimulatedDatabase();
  readonly nodes: SimulatedNode[] = [];
  /** Applies to all nodes. */
  isDatabaseAway = false;
  joined = 0;
  /** How many statements of each kind the nodes have sent. */
  readonly statements: Record<string, number> = {};

  constructor(
    private readonly random: () => number,
    readonly faults: Faults,
  ) {}

  /** Removes a node from `nodes`. */
  leave(node: SimulatedNode): void {
    if (this.nodes.includes(node)) this.nodes.splice(this.nodes.indexOf(node), 1);
  }

  join(): SimulatedNode {
    this.joined++;
    const node = new SimulatedNode(this, this.random);
    void node.keeper.start().then(
      () => this.nodes.push(node),
      () => undefined,
    );
    return node;
  }

  publish(from: SimulatedNode, what: (node: SimulatedNode) => void): void {
    for (const node of this.nodes) {
      if (node === from || this.random() < this.faults.lostMessages) continue;
      this.time.at(this.time.now + 5 + this.random() * 45, () => node.wake(() => what(node)), 0);
    }
  }
}

/** Returns the most calls within any window, wherever it begins. */
export function maxInAnyWindow(times: readonly number[], windowMs: number): number {
  const sorted = [...times].sort((one, other) => one - other);
  let first = 0;
  let max = 0;
  sorted.forEach((time, i) => {
    // Times from clocks with different offsets differ in their last digits.
    while (sorted[first]! + windowMs <= time + 1e-6) first++;
    max = Math.max(max, i - first + 1);
  });
  return max;
}
