import { Module, type OnModuleInit } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { RunnerRegistry } from '../queue/runs/runner-registry.js';
import { DemoRunner } from './demo-runner.js';
import { HttpRunner } from './http-runner.js';

@Module({
  imports: [QueueModule],
  providers: [HttpRunner, DemoRunner],
})
export class RunnersModule implements OnModuleInit {
  constructor(
    private readonly registry: RunnerRegistry,
    private readonly http: HttpRunner,
    private readonly demo: DemoRunner,
  ) {}

  onModuleInit(): void {
    this.registry.register('http', this.http);
    this.registry.register('demo', this.demo);
  }
}
