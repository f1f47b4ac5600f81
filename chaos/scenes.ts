import type { Conditions } from './cluster/cluster.js';
import { clockFaults } from './faults/clock-faults.js';
import { dayFaults, dayStartsAheadMs, endOfDay } from './faults/day-faults.js';
import type { FaultKind } from './faults/fault.js';
import { nodeFaults } from './faults/node-faults.js';
import { restartFaults } from './faults/restart-faults.js';
import { volumeFaults } from './faults/volume-faults.js';

/** A run with its own conditions and faults, in place of the faults of every run. */
export interface Scene {
  conditions: Conditions;
  faults: readonly FaultKind[];
  /** Pause between two faults. */
  pauseMs?: { low: number; high: number };
  /** A queue of 100,000 requests is audited. */
  hasDeepQueue?: boolean;
  /** Some receivers of webhooks are away for longer than one retry. */
  hasAwayReceivers?: boolean;
  /** Comes once, after all others. */
  lastFault?: FaultKind;
}

/** Node's timers have no clock that can be stepped, so the rounds of rare duties come sooner. */
const shortIntervals = new URL('./cluster/short-intervals.js', import.meta.url).href;

export const scenes: Readonly<Record<string, Scene>> = {
  depth: {
    conditions: { settings: { RATE_LIMIT_BATCH: 'off' } },
    faults: nodeFaults,
    hasDeepQueue: true,
  },
  volume: {
    conditions: { volumeMegabytes: 2_048 },
    faults: volumeFaults,
    pauseMs: { low: 15_000, high: 25_000 },
  },
  restarts: {
    // The proxy adds its own address to that of the caller.
    conditions: {
      hasFront: true,
      settings: { SHUTDOWN_DELAY: '5s', SHUTDOWN_GRACE: '10s', TRUST_PROXY: '2' },
    },
    faults: restartFaults,
  },
  clocks: { conditions: { databaseAheadMs: 0 }, faults: clockFaults },
  day: {
    conditions: {
      databaseAheadMs: dayStartsAheadMs(),
      settings: { RETENTION: '30h', NODE_OPTIONS: `--import=${shortIntervals}` },
    },
    faults: dayFaults,
    // One in each minute.
    pauseMs: { low: 45_000, high: 50_000 },
    hasAwayReceivers: true,
    lastFault: endOfDay,
  },
};
