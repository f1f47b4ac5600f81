import { sleep, within } from '../clock.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { mark, type FaultKind } from './fault.js';

/** The proxy asks each second whether a node is ready. */
const noticedMs = 2_500;
const readyWithinMs = 30_000;

export const restartFaults: readonly FaultKind[] = [
  {
    name: 'rolling restart behind a proxy',
    hits: 'all nodes',
    // No call may fail.
    graceMs: null,
    endsStreams: true,
    async make(context) {
      for (const node of context.targets) {
        mark(context, [node]);
        if (!(await node.stop())) context.violate('a node stops in order', `${node.name} had to be killed`);
        await node.start();
        if (!(await within(readyWithinMs, () => isReady(node))))
          context.violate('a node that starts becomes ready', node.name);
        await sleep(noticedMs);
      }
    },
  },
];

async function isReady({ url }: ServiceNode): Promise<boolean> {
  const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5_000) });
  await answer.arrayBuffer();
  return answer.ok;
}
