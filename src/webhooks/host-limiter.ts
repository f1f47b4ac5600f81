/** Of a host that nothing is known of yet. */
const firstRoom = 2;
const maxKnown = 1_000;
/** Between two tries of a host that does not answer: twice as long each time. */
const [shortestRestMs, longestRestMs] = [10, 250];

interface Lane {
  /** Tries at once: doubled by each answer, whatever its status; 1 when none came. */
  limit: number;
  running: number;
  answers: boolean;
  restMs: number;
  restsUntil: number;
}

interface Room {
  limit: number;
  limitUnproven: number;
  roomOfOthers: number;
  hosts: { host: string; room: number; answers: boolean }[];
}

/**
 * How many tries each host may have at once in this process. A host that does not answer has one, with a rest before the
 * next, and all that are not known to answer have half of what there is: so no number of them holds up the others.
 */
export class HostLanes {
  private readonly lanes = new Map<string, Lane>();
  private running = 0;
  private runningUnproven = 0;

  constructor(private readonly limits: { maxTries: number; maxTriesOfHost: number }) {}

  /** What may be begun now. */
  room(now = performance.now()): Room {
    const { maxTries } = this.limits;
    const limit = maxTries - this.running;
    return {
      limit,
      limitUnproven: Math.max(0, Math.min(limit, Math.ceil(maxTries / 2) - this.runningUnproven)),
      roomOfOthers: firstRoom,
      hosts: [...this.lanes].map(([host, { limit: most, running, answers, restsUntil }]) => {
        return { host, room: restsUntil > now ? 0 : Math.max(0, most - running), answers };
      }),
    };
  }

  /** Until the next host may be tried again that rests now; Infinity: none does. */
  nextRestEndInMs(now = performance.now()): number {
    const ends = [...this.lanes.values()].map(({ restsUntil }) => restsUntil - now);
    return Math.min(Infinity, ...ends.filter((ms) => ms > 0));
  }

  /** Begins a try; call what it returns at the end of it, with whether any answer came (undefined: not known). */
  begin(host: string): (answered: boolean | undefined, now?: number) => void {
    const lane = this.lanes.get(host) ?? this.add(host);
    const isUnproven = !lane.answers;
    lane.running++;
    this.running++;
    if (isUnproven) this.runningUnproven++;
    return (answered, now = performance.now()) => {
      lane.running--;
      this.running--;
      if (isUnproven) this.runningUnproven--;
      if (answered === undefined) return;
      lane.answers = answered;
      lane.limit = answered ? Math.min(lane.limit * 2, this.limits.maxTriesOfHost) : 1;
      lane.restMs = answered ? 0 : Math.min(longestRestMs, Math.max(shortestRestMs, lane.restMs * 2));
      lane.restsUntil = now + lane.restMs;
    };
  }

  private add(host: string): Lane {
    if (this.lanes.size >= maxKnown) {
      for (const [other, { running }] of this.lanes) {
        if (running > 0) continue;
        this.lanes.delete(other);
        break;
      }
    }
    const lane = { limit: firstRoom, running: 0, answers: false, restMs: 0, restsUntil: 0 };
    this.lanes.set(host, lane);
    return lane;
  }
}
