import { now, sleep, within } from '../chaos/clock.js';
import type { Service } from '../chaos/cluster/cluster.js';
import type { ServiceNode } from '../chaos/cluster/service-node.js';
import type { Submitter } from '../chaos/load/submitter.js';

const everyMs = 400;
/** Longer than a call may take. */
const patienceMs = 25_000;

/** Submits to each service all the time, and notes when it accepts. Calls overlap, so that none hides the next. */
export class Prober {
  /** Times at which each service accepted a submission. */
  readonly accepted = new Map<string, number[]>();
  private isProbing = true;
  private pending = 0;

  constructor(
    private readonly service: Service,
    private readonly submitter: Submitter,
  ) {}

  start(): void {
    for (const node of this.service.apiNodes) void this.probe(node);
  }

  /** Resolves when every call is answered. */
  async stop(): Promise<void> {
    this.isProbing = false;
    await within(patienceMs, () => this.pending === 0);
  }

  /** Milliseconds from `from` until this service accepted a submission again; undefined: not yet. */
  answeredAfterMs(node: string, from: number): number | undefined {
    const at = this.accepted.get(node)!.find((time) => time >= from);
    return at === undefined ? undefined : at - from;
  }

  /** The longest time between two accepted submissions of any services, within the span. */
  longestOutageMs(from: number, to: number): number {
    const times = [...this.accepted.values()].flat().filter((at) => at >= from && at <= to);
    const all = [from, ...times.sort((a, b) => a - b), to];
    return Math.max(...all.map((at, i) => at - (all[i - 1] ?? at)));
  }

  private async probe(node: ServiceNode): Promise<void> {
    const times: number[] = [];
    this.accepted.set(node.name, times);
    while (this.isProbing) {
      const submission = this.submitter.plain('chaos/fast', this.service.callers.probe, [
        { do: 'answer', ms: 1 },
      ]);
      this.pending++;
      void this.submitter
        .send(submission, node)
        .then(({ entry }) => entry !== undefined && times.push(now()))
        .finally(() => this.pending--);
      await sleep(everyMs);
    }
  }
}
