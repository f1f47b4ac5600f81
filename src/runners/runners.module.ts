import { Module, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { RunnerKind } from '../models/runner-kind.js';
import { QueueModule } from '../queue/queue.module.js';
import { RunnerRegistry } from '../queue/runs/runner-registry.js';
import type { Runner } from '../queue/runs/runner.js';
import { DemoRunner } from './demo-runner.js';
import { HttpRunner } from './http-runner.js';

/** All that the `kind` of a model's runner may name; each brings its options and its behaviour. */
export const runnerKinds: readonly (RunnerKind & Type<Runner>)[] = [HttpRunner, DemoRunner];

@Module({ imports: [QueueModule], providers: [...runnerKinds] })
export class RunnersModule implements OnModuleInit {
  constructor(
    private readonly registry: RunnerRegistry,
    private readonly providers: ModuleRef,
  ) {}

  onModuleInit(): void {
    for (const runner of runnerKinds) this.registry.register(runner.kind, this.providers.get(runner));
  }
}
