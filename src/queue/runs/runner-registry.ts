import { Injectable } from '@nestjs/common';
import type { Model, RunnerSpec } from '../../models/model.js';
import type { Runner } from './runner.js';

/** Which runner serves which kind of model. The runners register themselves; the scheduler looks up. */
@Injectable()
export class RunnerRegistry {
  private readonly runners = new Map<RunnerSpec['kind'], Runner>();

  register(kind: RunnerSpec['kind'], runner: Runner): void {
    this.runners.set(kind, runner);
  }

  for(model: Model): Runner {
    const runner = this.runners.get(model.runner.kind);
    if (runner === undefined) throw new Error(`no runner is registered for kind "${model.runner.kind}"`);
    return runner;
  }
}
