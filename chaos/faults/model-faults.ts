import { within } from '../clock.js';
import type { FaultKind, FaultContext } from './fault.js';

/** Longer than the longest wait between two probes plus one probe. */
const closedWithinMs = 45_000;

/** The circuits of models that break by themselves now and then do not count. */
const openCircuits = `SELECT count(*)::integer AS open FROM circuit
  WHERE model_id NOT IN ('chaos/broken', 'chaos/poison')`;

async function beAway({ cluster, model, random }: FaultContext, how: 'refusing' | '503'): Promise<void> {
  await model.beAway(how, random.between(2_000, 12_000));
  await within(closedWithinMs, async () => {
    const [row] = await cluster.postgres.query<{ open: number }>(openCircuits);
    return row!.open === 0;
  });
}

export const modelFaults: readonly FaultKind[] = [
  {
    name: 'models refuse connections',
    hits: 'models',
    graceMs: null,
    make: (context) => beAway(context, 'refusing'),
  },
  { name: 'models answer 503', hits: 'models', graceMs: null, make: (context) => beAway(context, '503') },
];
