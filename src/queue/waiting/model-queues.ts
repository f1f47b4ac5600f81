import { FairQueue } from './fair-queue.js';

/** The queues of all models, by priority. */
export class ModelQueues {
  readonly models = new Map<string, Map<number, FairQueue>>();
  /** The seqs of held entries, by model. */
  readonly held = new Map<string, Set<number>>();

  at(modelId: string, priority: number): FairQueue {
    let priorities = this.models.get(modelId);
    if (priorities === undefined) this.models.set(modelId, (priorities = new Map<number, FairQueue>()));
    let queue = priorities.get(priority);
    if (queue === undefined) priorities.set(priority, (queue = new FairQueue()));
    return queue;
  }

  hold(modelId: string, seq: number): void {
    const seqs = this.held.get(modelId);
    if (seqs === undefined) this.held.set(modelId, new Set([seq]));
    else seqs.add(seq);
  }

  release(modelId: string, seq: number): void {
    const seqs = this.held.get(modelId);
    if (seqs?.delete(seq) === true && seqs.size === 0) this.held.delete(modelId);
  }

  all(): [modelId: string, priority: number, queue: FairQueue][] {
    return [...this.models].flatMap(([modelId, queues]) =>
      [...queues].map(([priority, queue]) => [modelId, priority, queue] as [string, number, FairQueue]),
    );
  }
}
