import { randomUUID } from 'node:crypto';
import { sleep, within } from '../clock.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Caller } from '../load/caller.js';
import { storeKeys, withKey } from '../load/callers.js';
import { httpCall } from '../load/http-call.js';
import { stepDatabase } from './clock-faults.js';
import type { FaultContext, FaultKind } from './fault.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A minute of the run is 72 minutes of the day. */
const stepMs = 1.2 * hourMs;
const keyLifeMinutes = 30;
/** A node reads a key again after a minute; it cannot know that the clock was stepped. */
const readAgainMs = 65_000;
const servedWithinMs = 10_000;
const patienceMs = 20_000;
/** More than all retries of a receiver that is away. */
const lateSteps = 3;
/** The duties have a round each 8 to 24 s. */
const roundsMs = 60_000;
/** The keeper makes partitions for a week ahead. */
const daysAhead = 7;

/** The day begins at noon in UTC, so that yesterday's partition is older than the retention before the run ends. */
export function dayStartsAheadMs(): number {
  return Math.round((12 * hourMs - (Date.now() % dayMs)) / 1_000) * 1_000;
}

export const dayFaults: readonly FaultKind[] = [
  {
    name: 'time passes',
    hits: 'database',
    graceMs: 10_000,
    async make(context) {
      const { postgres, callers } = context.cluster;
      const caller = withKey(`expires-${randomUUID()}`);
      await storeKeys(postgres, [caller]);
      await postgres.query(
        `UPDATE api_key SET expires_at = clock_timestamp() + $2 * interval '1 minute' WHERE id = $1`,
        [caller.keyId, keyLifeMinutes],
      );
      await expectAnswer(context, caller, 404, servedWithinMs, 'a key serves until it expires');
      callers.expiring.push(caller);
      await stepDatabase(context, stepMs);
    },
  },
];

/** Every node soon answers a call about a request that does not exist with this status. */
async function expectAnswer(
  { cluster, violate }: FaultContext,
  { name: key, headers }: Caller,
  status: number,
  withinMs: number,
  rule: string,
): Promise<void> {
  const path = `/v1/queue/requests/${randomUUID()}/status`;
  const answers = cluster.apiNodes.map(async ({ name, url }) => {
    let last = 0;
    const isRight = async (): Promise<boolean> => {
      last = (await httpCall('GET', url + path, headers, undefined, patienceMs)).status;
      return last === status;
    };
    if (!(await within(withinMs, isRight))) violate(rule, `${name}: ${last} for ${key}`);
  });
  await Promise.all(answers);
}

/** Lets time pass until the retries of receivers that were away are due, and looks at the partitions. */
export const endOfDay: FaultKind = {
  name: 'time passes',
  hits: 'database',
  graceMs: 10_000,
  async make(context) {
    const { cluster, violate, count } = context;
    for (let step = 0; step < lateSteps; step++) {
      await stepDatabase(context, hourMs);
      await sleep(10_000);
    }
    const isRight = async (): Promise<boolean> => {
      const { ahead, old, isEarly } = await readPartitions(cluster);
      return ahead >= daysAhead && old === 0 && !isEarly;
    };
    const { expiring } = cluster.callers;
    const rule = 'a key that has expired is refused, a minute after a step at the latest';
    await Promise.all(expiring.map((caller) => expectAnswer(context, caller, 401, readAgainMs, rule)));
    count('keys that expired', expiring.length);
    const areRight = await within(roundsMs, isRight);
    const { ahead, old, isEarly, oldOutput, days } = await readPartitions(cluster);
    const yesterday = new Date(Date.now() - dayMs).toISOString().slice(0, 10);
    count('days whose partitions were dropped', days[0] === yesterday ? 0 : 1);
    count('days of partitions ahead', ahead);
    if (!areRight || oldOutput > 0) {
      const early = isEarly ? ', and one was dropped too early' : '';
      const detail = `${old} old ones and ${oldOutput} of outputs, of ${days.join()}${early}`;
      violate('partitions are made and dropped in time', detail);
    }
  },
};

interface Partitions {
  /** Days after today that have their partition. */
  ahead: number;
  /** Days that are older than the retention. */
  old: number;
  /** A day that the retention keeps has none. */
  isEarly: boolean;
  oldOutput: number;
  /** The days of all partitions, in order. */
  days: string[];
}

async function readPartitions({ postgres }: Cluster): Promise<Partitions> {
  const [row] = await postgres.query<Partitions>(
    `SELECT max(day) - (clock_timestamp() AT TIME ZONE 'UTC')::date AS ahead,
            count(*) FILTER (WHERE day + 1 < (clock_timestamp() - interval '30 hours') AT TIME ZONE 'UTC')::integer AS old,
            min(day) > ((clock_timestamp() - interval '30 hours') AT TIME ZONE 'UTC')::date AS "isEarly",
            (SELECT count(*) FROM pg_class
             WHERE relname ~ '^output_delta_[0-9]{12}$' AND relkind = 'r'
               AND to_timestamp(right(relname, 12), 'YYYYMMDDHH24MI')
                   < (clock_timestamp() - interval '2 hours') AT TIME ZONE 'UTC')::integer AS "oldOutput",
            array_agg(day::text ORDER BY day) AS days
     FROM (SELECT to_date(right(relname, 8), 'YYYYMMDD') AS day FROM pg_class
           WHERE relname ~ '^request_[0-9]{8}$' AND relkind = 'r') AS partition`,
  );
  return row!;
}
