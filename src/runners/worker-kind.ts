import { type RunnerKind, RunnerOptions } from '../models/runner-kind.js';

class WorkerOptions extends RunnerOptions {
  override get isPulled(): boolean {
    return true;
  }
}

/** For models that no node runs. Workers claim their requests over HTTP. */
export const workerKind: RunnerKind = { kind: 'worker', Options: WorkerOptions };
