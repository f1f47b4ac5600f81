import { Module, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { QueueModule } from '../queue/queue.module.js';
import { RunnerRegistry } from '../queue/runs/runner-registry.js';
import { runnerKinds } from './runner-kinds.js';

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
