import type { Model } from '../../models/model.js';
import type { Claimed } from './queries/claim.js';
import type { RunLog } from './run-log.js';

/** The facts that the end of a run depends on, whether this process or a worker ran it. */
export interface EndingRun {
  readonly claimed: Pick<Claimed, 'id' | 'token' | 'failedAttempts'>;
  readonly model: Model;
  /** The attempt as the status counts it. */
  readonly attempt: number;
  readonly timeoutMs: number;
  /** undefined: the runner was not called. */
  readonly runMs: number | undefined;
  readonly cappedLog: Pick<RunLog, 'admit'>;
}
