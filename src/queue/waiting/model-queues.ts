import { FairQueue } from './fair-queue.js';

/** The queues of all models, by priority. */
export class ModelQueues {
  readonly models = new Map<string, Map<number, FairQueue>>();

  at(modelId: string, priority: number): FairQueue {
    let priorities = this.models.get(modelId);
    if (priorities === undefined) this.models.set(modelId, (priorities = new Map<number, FairQueue>()));
    let queue = priorities.get(priority);
    if (queue === undefined) priorities.set(priority, (queue = new FairQueue()));
    return queue;
  }

  all(): [modelId: string, priority: number, queue: FairQueue][] {
    return [...this.models].flatMap(([modelId, queues]) =>
      [...queues].map(([priority, queue]) => [modelId, priority, queue] as [string, number, FairQueue]),
    );
  }
}
