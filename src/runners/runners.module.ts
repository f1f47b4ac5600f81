import { Module, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { FilesModule } from '../files/files.module.js';
import type { RunnerKind } from '../models/runner-kind.js';
import { QueueModule } from '../queue/queue.module.js';
import { RunnerRegistry } from '../queue/runs/runner-registry.js';
import type { Runner } from '../queue/runs/runner.js';
import { DemoRunner } from './demo-runner.js';
import { HttpRunner } from './http-runner.js';
import { workerKind } from './worker-kind.js';

/** The runners of nodes. Each one defines its options and its behaviour. */
const runners: readonly (RunnerKind & Type<Runner>)[] = [HttpRunner, DemoRunner];

/** All values that the `kind` of a model's runner may have. */
export const runnerKinds: readonly RunnerKind[] = [...runners, workerKind];

@Module({ imports: [FilesModule, QueueModule], providers: [...runners] })
export class RunnersModule implements OnModuleInit {
  constructor(
    private readonly registry: RunnerRegistry,
    private readonly providers: ModuleRef,
  ) {}

  onModuleInit(): void {
    for (const runner of runners) this.registry.register(runner.kind, this.providers.get(runner));
  }
}
