/** Tries at once of a host of which nothing is known yet. */
const firstRoom = 2;
const maxKnown = 1_000;
/** Pause between two tries of a host that does not answer. It doubles each time, up to the maximum. */
const [shortestRestMs, longestRestMs] = [10, 250];

interface HostState {
  /** Tries at once. Each answer doubles it, whatever its status; it is 1 after a try without an answer. */
  limit: number;
  running: number;
  answers: boolean;
  restMs: number;
  restsUntil: number;
}

interface KeyState {
  running: number;
  runningUnproven: number;
  /** Greater the later its last try began. */
  turn: number;
}

interface Room {
  limit: number;
  limitUnproven: number;
  roomOfOthers: number;
  hosts: { host: string; room: number; answers: boolean }[];
  keys: { keyId: string; running: number; runningUnproven: number; turn: number }[];
}

/**
 * Limits how many tries each host may have at once in this process. A host that does not answer has one, with a pause
 * before the next. All hosts that are not known to answer share half of the tries, so that no number of them delays the
 * others. It also counts the tries of each key, because keys take turns.
 */
export class HostLimiter {
  private readonly hosts = new Map<string, HostState>();
  /** The key whose last try began first comes first. */
  private readonly keys = new Map<string, KeyState>();
  private turns = 0;
  private running = 0;
  private runningUnproven = 0;

  constructor(private readonly limits: { maxTries: number; maxTriesOfHost: number }) {}

  /** Returns what may be begun now. */
  room(now = performance.now()): Room {
    const { maxTries } = this.limits;
    const limit = maxTries - this.running;
    return {
      limit,
      limitUnproven: Math.max(0, Math.min(limit, Math.ceil(maxTries / 2) - this.runningUnproven)),
      roomOfOthers: firstRoom,
      hosts: [...this.hosts].map(([host, { limit: max, running, answers, restsUntil }]) => {
        return { host, room: restsUntil > now ? 0 : Math.max(0, max - running), answers };
      }),
      keys: [...this.keys].map(([keyId, state]) => ({ keyId, ...state })),
    };
  }

  /** Milliseconds until the first host that rests now may be tried again; Infinity: none rests. */
  nextRestEndInMs(now = performance.now()): number {
    const ends = [...this.hosts.values()].map(({ restsUntil }) => restsUntil - now);
    return Math.min(Infinity, ...ends.filter((ms) => ms > 0));
  }

  /** Begins a try. Call the returned function at its end, with whether any answer came (undefined: not known). */
  begin(host: string, keyId: string): (answered: boolean | undefined, now?: number) => void {
    const state = this.hosts.get(host) ?? this.add(host);
    const ofKey = this.nextTurn(keyId);
    const isUnproven = !state.answers;
    ofKey.running++;
    if (isUnproven) ofKey.runningUnproven++;
    state.running++;
    this.running++;
    if (isUnproven) this.runningUnproven++;
    return (answered, now = performance.now()) => {
      ofKey.running--;
      state.running--;
      this.running--;
      if (isUnproven) {
        ofKey.runningUnproven--;
        this.runningUnproven--;
      }
      if (answered === undefined) return;
      state.answers = answered;
      state.limit = answered ? Math.min(state.limit * 2, this.limits.maxTriesOfHost) : 1;
      state.restMs = answered ? 0 : Math.min(longestRestMs, Math.max(shortestRestMs, state.restMs * 2));
      state.restsUntil = now + state.restMs;
    };
  }

  private add(host: string): HostState {
    forgetOneIdle(this.hosts);
    const state = { limit: firstRoom, running: 0, answers: false, restMs: 0, restsUntil: 0 };
    this.hosts.set(host, state);
    return state;
  }

  private nextTurn(keyId: string): KeyState {
    const state = this.keys.get(keyId) ?? { running: 0, runningUnproven: 0, turn: 0 };
    this.keys.delete(keyId);
    forgetOneIdle(this.keys);
    state.turn = ++this.turns;
    this.keys.set(keyId, state);
    return state;
  }
}

function forgetOneIdle(states: Map<string, { running: number }>): void {
  if (states.size < maxKnown) return;
  for (const [name, { running }] of states) {
    if (running > 0) continue;
    states.delete(name);
    return;
  }
}
