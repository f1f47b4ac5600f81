import { sleep, within } from '../clock.js';
import type { FaultContext, FaultKind } from './fault.js';

const secondMs = 1_000;
const graceMs = 10_000;
const holdMs = { low: 5_000, high: 12_000 };

/** Steps the database's clock. Then every node has to accept submissions again. */
export async function stepDatabase(
  { cluster, load, violate, count }: FaultContext,
  byMs: number,
): Promise<void> {
  await cluster.databaseClock!.step(byMs);
  const { submitter } = load;
  const accepts = cluster.apiNodes.map((node) =>
    within(graceMs, async () => {
      const submission = submitter.plain('chaos/fast', cluster.callers.probe, [{ do: 'answer', ms: 1 }]);
      return !node.isUp || (await submitter.send(submission, node)).entry !== undefined;
    }),
  );
  count("steps of the database's clock");
  if ((await Promise.all(accepts)).includes(false))
    violate("submissions work within 10 s of a step of the database's clock", `${byMs / secondMs} s`);
}

const wholeSeconds = (ms: number): number => Math.round(ms / secondMs) * secondMs;

export const clockFaults: readonly FaultKind[] = [
  {
    name: "the database's clock stepped",
    hits: 'database',
    graceMs,
    /**
     * Each step leads to a time that the clock did not show before, so that every stored time tells when it was. The last
     * step goes beyond all times shown, so that nothing waits for a time that is far away.
     */
    async make(context) {
      const { random } = context;
      const hold = (): Promise<void> => sleep(random.between(holdMs.low, holdMs.high));
      const backMs = wholeSeconds(random.between(100_000, 300_000));
      const forthMs = wholeSeconds(backMs + random.between(60_000, 300_000));
      await stepDatabase(context, forthMs);
      await hold();
      await stepDatabase(context, -backMs);
      await hold();
      await stepDatabase(context, backMs + 60_000);
    },
  },
  {
    name: "a node's clock stepped",
    hits: 'one node',
    // No call may notice it.
    graceMs: null,
    async make(context) {
      const { cluster, random, record } = context;
      const node = random.pick(context.targets);
      record.nodes.push(node.name);
      const clock = cluster.clockOf(node)!;
      await clock.step(wholeSeconds(random.between(60_000, 900_000)) * random.pick([-1, 1]));
      await sleep(random.between(holdMs.low, holdMs.high));
      await clock.step(-clock.offsetMs);
    },
  },
];
