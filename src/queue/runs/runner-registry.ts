import { Injectable } from '@nestjs/common';
import type { Model } from '../../models/model.js';
import type { Runner } from './runner.js';

/** Maps kinds of models to runners. The runners' modules register them; `Runs` looks them up. */
@Injectable()
export class RunnerRegistry {
  private readonly runners = new Map<string, Runner>();

  register(kind: string, runner: Runner): void {
    this.runners.set(kind, runner);
  }

  for(model: Model): Runner {
    const runner = this.runners.get(model.runner.kind);
    if (runner === undefined) throw new Error(`no runner is registered for kind "${model.runner.kind}"`);
    return runner;
  }
}
