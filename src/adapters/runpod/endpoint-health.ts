import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { Activity } from '../../overview/activity.js';
import { ClusterSnapshots } from '../../overview/cluster-snapshots.js';
import { ModelLoads } from '../../queue/reads/model-loads.js';
import { NewRequests } from '../../requests/new-requests.js';

/** The jobs and workers of a model, as Runpod's clients read them. A worker is a slot for a run. */
@Injectable()
export class EndpointHealth {
  constructor(
    private readonly newRequests: NewRequests,
    private readonly loads: ModelLoads,
    private readonly activity: Activity,
    private readonly snapshots: ClusterSnapshots,
  ) {}

  async of(caller: Caller, endpoint: string): Promise<object> {
    const { id, concurrency, paused } = this.newRequests.modelNamed(caller, endpoint);
    const [[load], { delayed }] = await Promise.all([
      this.loads.of([id]),
      this.snapshots.get(),
      this.activity.read(),
    ]);
    const { waiting, running, availability, workers } = load!;
    const lastHour = this.activity.history(id);
    const sum = (field: 'completed' | 'failed'): number =>
      lastHour.reduce((all, minute) => all + minute[field], 0);
    // Workers of a model without a bound take one run each.
    const idle = Math.max(0, (concurrency ?? workers ?? 0) - running);
    const isReady = paused === null && availability === 'available';
    return {
      jobs: {
        completed: sum('completed') - sum('failed'),
        failed: sum('failed'),
        inProgress: running,
        inQueue: waiting,
        retried: delayed.find(({ modelId }) => modelId === id)?.retrying ?? 0,
      },
      workers: {
        idle: isReady ? idle : 0,
        initializing: 0,
        ready: isReady ? idle : 0,
        running,
        throttled: isReady ? 0 : idle,
        unhealthy: 0,
      },
    };
  }
}
