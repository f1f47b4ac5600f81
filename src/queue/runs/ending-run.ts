import type { Model } from '../../models/model.js';
import type { Claimed } from '../queries/claim.js';
import type { RunLog } from './run-log.js';

/** What the end of a run depends on, whether a process of ours ran it or a worker. */
export interface EndingRun {
  readonly claimed: Pick<Claimed, 'id' | 'token' | 'failedAttempts'>;
  readonly model: Model;
  /** As the status has it. */
  readonly attempt: number;
  readonly timeoutMs: number;
  /** undefined: the runner was not called. */
  readonly runMs: number | undefined;
  readonly cappedLog: Pick<RunLog, 'admit'>;
}
