import { Injectable } from '@nestjs/common';
import { Duty } from '../../../tools/duty.js';
import { asRunFailure } from '../../runs/run-finish.js';
import { RunnerRegistry } from '../../runs/runner-registry.js';
import { Circuits, type HealthProbe } from '../circuits.js';

/** Asks the servers with a health check whether they are ready: at the start, and while they are away. */
@Injectable()
export class HealthKeeper extends Duty {
  /** The circuits announce checks that are due. The interval is for one that was announced during a round. */
  protected readonly intervalMs = 1_000;
  protected override readonly firstWithinMs = 0;
  private stopping = new AbortController();
  private readonly checks = new Set<Promise<void>>();

  constructor(
    private readonly circuits: Circuits,
    private readonly runners: RunnerRegistry,
  ) {
    super();
    circuits.wakes.subscribe(() => this.scheduleWithin(0));
  }

  override start(): void {
    this.stopping = new AbortController();
    super.start();
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.stopping.abort();
    await Promise.all(this.checks);
  }

  runOnce(): Promise<void> {
    for (const one of this.circuits.startHealthChecks()) {
      const checking: Promise<void> = this.check(one).finally(() => this.checks.delete(checking));
      this.checks.add(checking);
    }
    return Promise.resolve();
  }

  private async check(one: HealthProbe): Promise<void> {
    const { model, target } = one;
    const { signal } = this.stopping;
    try {
      await this.runners.for(model).checkHealth!(model, target.url, signal);
      this.circuits.endHealthCheck(one);
    } catch (error) {
      if (signal.aborted) this.circuits.skipProbe(one);
      else this.circuits.endHealthCheck(one, asRunFailure(error));
    }
  }
}
