import { Injectable } from '@nestjs/common';
import { Files } from '../files/files.js';
import { Required, RunnerOptions } from '../models/runner-kind.js';
import type { Run, Runner } from '../queue/runs/runner.js';
import { OneOf } from '../tools/validation.js';
import { runFlaky } from './demos/flaky.js';
import { runFractal } from './demos/fractal.js';
import { runStory } from './demos/story.js';

type Demo = (run: Run, files: Files) => Promise<string | undefined>;

const demos: Record<'echo' | 'fractal' | 'story' | 'flaky', Demo> = {
  echo: ({ input }) => Promise.resolve(input),
  fractal: runFractal,
  story: runStory,
  flaky: runFlaky,
};

class DemoRunnerOptions extends RunnerOptions {
  @Required()
  @OneOf(...Object.keys(demos))
  demo!: keyof typeof demos;

  override label(): string {
    return `${this.kind}:${this.demo}`;
  }
}

/** Runs the shipped demo models in this process. */
@Injectable()
export class DemoRunner implements Runner {
  static readonly kind = 'demo';
  static readonly Options = DemoRunnerOptions;

  constructor(private readonly files: Files) {}

  run(run: Run): Promise<string | undefined> {
    return demos[(run.model.runner as DemoRunnerOptions).demo](run, this.files);
  }
}
