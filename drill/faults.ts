import { now, sleep, within } from '../chaos/clock.js';
import type { Random } from '../chaos/random.js';
import type { PrimaryWatch } from './primary-watch.js';
import { patroniTimes } from './topology/patroni-settings.js';
import type { PostgresNode } from './topology/postgres-node.js';
import type { Topology } from './topology/topology.js';

/** A standby has `ttl` to notice that the primary is gone. Then it elects itself and recovers. */
const promotionMs = 1_000 * patroniTimes.ttl + 40_000;
/** A primary that has crashed is rewound, or copied anew. */
const wholeMs = 180_000;
/** How long replication is held back before the primary is killed. Shorter than `ttl`, and than the waits of the service. */
const lagMs = 4_000;

interface FaultContext {
  topology: Topology;
  watch: PrimaryWatch;
  random: Random;
  primary: PostgresNode;
  from: number;
}

/** What a fault made of the database. */
interface Effect {
  /** The time from which the database took writes again. */
  servesAt: number;
  /** The primary after it. */
  primary: PostgresNode;
}

export interface DrillFault {
  name: string;
  /** Resolves when everything that it broke is whole again. */
  make(context: FaultContext): Promise<Effect>;
}

/** Waits until another node than the old primary takes writes, repairs, and waits until all nodes are there. */
async function failover(
  { topology, watch, primary, from }: FaultContext,
  repair: () => unknown,
): Promise<Effect> {
  const find = (): ReturnType<PrimaryWatch['firstWrite']> => watch.firstWrite(from, primary.name);
  if (!(await within(promotionMs, () => find() !== undefined)))
    throw new Error(`No standby became the primary within ${promotionMs / 1_000} s.\n${topology.said}`);
  const { node, at } = find()!;
  await repair();
  await topology.untilWhole(wholeMs);
  return { servesAt: at, primary: topology.nodes.find(({ name }) => name === node)! };
}

/** The same for a fault after which the primary may be the same. */
async function interruption({ topology, watch, from }: FaultContext): Promise<Effect> {
  await topology.untilWhole(wholeMs);
  return { servesAt: watch.endOfLongestGap(from), primary: await topology.nodeOf('leader') };
}

export const drillFaults: readonly DrillFault[] = [
  {
    name: 'primary killed',
    async make(context) {
      await context.primary.kill();
      return failover(context, () => context.primary.start());
    },
  },
  {
    name: 'primary killed while its standbys lag',
    async make(context) {
      const { primary } = context;
      await primary.ways.replication.make('hang');
      await sleep(lagMs);
      await primary.kill();
      await primary.ways.replication.make('reset');
      await primary.ways.replication.make('heal');
      return failover(context, () => primary.start());
    },
  },
  {
    name: 'primary frozen',
    async make(context) {
      context.primary.freeze();
      return failover(context, async () => {
        // Long enough for calls to reach the new primary before the old one wakes.
        await sleep(context.random.between(2_000, 6_000));
        context.primary.thaw();
      });
    },
  },
  {
    name: 'primary cut off',
    async make(context) {
      await context.primary.cutOff();
      return failover(context, async () => {
        await sleep(context.random.between(2_000, 6_000));
        await context.primary.reconnect();
      });
    },
  },
  {
    name: 'switchover',
    async make(context) {
      await context.topology.switchover();
      return failover(context, () => undefined);
    },
  },
  {
    name: 'replica lost',
    async make(context) {
      const { topology, random } = context;
      const replica = await topology.nodeOf(
        topology.replication === 'asynchronous' ? 'replica' : 'sync_standby',
      );
      await replica.kill();
      await sleep(random.between(8_000, 14_000));
      replica.start();
      return interruption(context);
    },
  },
  {
    name: 'most of etcd lost',
    async make(context) {
      const { topology, watch, random } = context;
      const [first, second] = random.shuffle(topology.etcd);
      await Promise.all([first!.kill(), second!.kill()]);
      // The primary demotes itself: nothing takes writes for two seconds.
      const silentMs = 2_000;
      await within(promotionMs, () => watch.firstWrite(now() - silentMs) === undefined);
      await sleep(random.between(1_000, 4_000));
      first!.start();
      second!.start();
      return interruption(context);
    },
  },
  {
    name: 'HAProxy restarted',
    async make({ topology, primary, random }) {
      await topology.haproxy.kill();
      await sleep(random.between(500, 3_000));
      topology.haproxy.start();
      if (!(await topology.untilProxied(10_000)))
        throw new Error(`HAProxy does not listen.\n${topology.said}`);
      return { servesAt: now(), primary };
    },
  },
];
