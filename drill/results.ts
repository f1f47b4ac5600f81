import type { Violation } from '../chaos/load/ledger.js';
import { type Sources, writeRun } from '../chaos/results.js';
import type { Options } from './options.js';

/** One fault and its effects. Times are milliseconds from its begin. */
export interface FaultResult {
  kind: string;
  primaryBefore: string;
  primaryAfter: string;
  /** Time until the database took writes again. */
  databaseServesAfterMs: number;
  /** Time from then until each service accepted a submission again. */
  answeredAfterMs: Record<string, number>;
  /** The longest time in which no service accepted a submission. */
  outageMs: number;
  worstCallMs: number;
  /** Time until every node was there again. */
  wholeAfterMs: number;
  /** Writes that the old primary answered after the new one had. */
  writesOfOldPrimary: number;
  /** Time, from when all was whole, until all positions were exact. */
  positionsExactAfterMs: number;
}

export interface DrillResult extends Sources {
  date: string;
  options: Omit<Options, 'keep'>;
  versions: Record<string, string>;
  seconds: number;
  /** Faults after which another node was the primary. */
  failovers: number;
  /** Submissions that were acknowledged. */
  accepted: number;
  /** Those of them that are not stored. */
  lost: number;
  requests: number;
  runs: number;
  outcomes: Record<string, number>;
  worstAnsweredAfterMs: number;
  worstCallMs: number;
  faults: FaultResult[];
  counts: Record<string, number>;
  violations: Violation[];
  /** The number of violations of each rule; `violations` has the first of each. */
  violationsOfRule: Record<string, number>;
}

/** Returns the name of the file. */
export function writeResult(result: DrillResult): Promise<string> {
  const { date, options } = result;
  const kind = options.async ? 'async' : options.strict ? 'strict' : 'sync';
  return writeRun('drill/results', date, `${kind}-${options.seed}`, result);
}
