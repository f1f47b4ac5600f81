import type { Type } from '@nestjs/common';
import type { RunnerKind } from '../models/runner-kind.js';
import type { Runner } from '../queue/runs/runner.js';
import { DemoRunner } from './demo-runner.js';
import { HttpRunner } from './http-runner.js';

/** All that the `kind` of a model's runner may name; each brings its options and its behaviour. */
export const runnerKinds: readonly (RunnerKind & Type<Runner>)[] = [HttpRunner, DemoRunner];
