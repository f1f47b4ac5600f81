import { Injectable } from '@nestjs/common';
import type { RunnerSpec } from '../models/model.js';
import type { Run, Runner } from '../queue/runs/runner.js';
import { runEcho } from './demos/echo.js';
import { runFlaky } from './demos/flaky.js';
import { runFractal } from './demos/fractal.js';

type DemoName = Extract<RunnerSpec, { kind: 'demo' }>['demo'];

const demos: Record<DemoName, (run: Run) => Promise<string>> = {
  echo: runEcho,
  flaky: runFlaky,
  fractal: runFractal,
};

/** Runs the shipped demos in this process. */
@Injectable()
export class DemoRunner implements Runner {
  run(run: Run): Promise<string> {
    const { runner } = run.model;
    if (runner.kind !== 'demo') throw new Error(`${run.model.id} is no demo`);
    return demos[runner.demo](run);
  }
}
