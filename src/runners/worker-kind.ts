import { type RunnerKind, RunnerOptions, type Taker } from '../models/runner-kind.js';

class WorkerOptions extends RunnerOptions {
  override get takenBy(): Taker {
    return 'workers';
  }
}

/** For models that no node runs. Workers claim their requests over HTTP. */
export const workerKind: RunnerKind = { kind: 'worker', Options: WorkerOptions };
