import { sleep } from '../clock.js';
import { mark, type FaultKind } from './fault.js';

export const nodeFaults: readonly FaultKind[] = [
  {
    name: 'node killed',
    hits: 'one node',
    graceMs: null,
    async make(context) {
      const node = context.random.pick(context.targets);
      mark(context, [node]);
      await node.kill();
      await sleep(context.random.between(0, 9_000));
      await node.start();
    },
  },
  {
    name: 'all nodes killed',
    hits: 'all nodes',
    graceMs: null,
    async make(context) {
      mark(context, context.targets, true);
      await Promise.all(context.targets.map((node) => node.kill()));
      await sleep(context.random.between(0, 2_000));
      await Promise.all(context.targets.map((node) => node.start()));
    },
  },
  {
    name: 'rolling restart',
    hits: 'all nodes',
    graceMs: null,
    async make(context) {
      for (const node of context.targets) {
        mark(context, [node]);
        if (!(await node.stop())) context.violate('a node stops in order', `${node.name} had to be killed`);
        await node.start();
      }
    },
  },
  {
    name: 'node frozen',
    hits: 'one node',
    graceMs: 5_000,
    async make(context) {
      const node = context.random.pick(context.targets);
      mark(context, [node]);
      node.freeze();
      await sleep(context.random.between(1_000, 12_000));
      node.thaw();
    },
  },
  {
    name: 'node cut off',
    hits: 'one node',
    graceMs: 10_000,
    async make(context) {
      const node = context.random.pick(context.targets);
      mark(context, [node]);
      const path = context.cluster.pathOf(node);
      await path.make('hang');
      await sleep(context.random.between(1_000, 20_000));
      await path.make('heal');
    },
  },
  {
    name: 'connections reset',
    hits: 'one node',
    graceMs: 5_000,
    async make(context) {
      const node = context.random.pick(context.targets);
      mark(context, [node]);
      await context.cluster.pathOf(node).make('reset');
    },
  },
  {
    name: 'listener half-open',
    hits: 'one node',
    graceMs: 0,
    async make(context) {
      const node = context.random.pick(context.targets);
      mark(context, [node]);
      await context.cluster.pathOf(node).muteChannel(context.random.next());
    },
  },
];
