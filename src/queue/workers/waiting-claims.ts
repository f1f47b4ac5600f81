import { Injectable } from '@nestjs/common';
import { DomainError } from '../../errors/domain-error.js';
import type { ClaimWaiter } from './claim-waiter.js';

/**
 * At most this many claims of one worker wait on one node. It needs only one, but may send the next before this node
 * knows that the first is over.
 */
const maxOfWorker = 16;

/** The claims that wait, by model and by their ids. Those of a model are in the order in which they came. */
@Injectable()
export class WaitingClaims {
  private readonly byModel = new Map<string, Set<ClaimWaiter>>();
  private readonly byId = new Map<string, ClaimWaiter>();

  get size(): number {
    return this.byId.size;
  }

  get all(): ClaimWaiter[] {
    return [...this.byId.values()];
  }

  /** Models that a claim waits for. */
  get models(): string[] {
    return [...this.byModel.keys()];
  }

  of(modelId: string): ReadonlySet<ClaimWaiter> | undefined {
    return this.byModel.get(modelId);
  }

  ofWorker(uid: string): ClaimWaiter[] {
    return this.all.filter(({ asked }) => asked.worker.uid === uid);
  }

  /**
   * Adds a claim. If the same claim waits already, its call was repeated, and nobody reads the first answer. Throws if
   * the two differ.
   */
  add(waiter: ClaimWaiter): void {
    const { claimId, models, hash } = waiter.asked;
    const known = this.byId.get(claimId);
    if (known?.asked.hash.equals(hash) === false) throw conflictOf();
    if (known === undefined && waiter.asked.worker.waitingClaims >= maxOfWorker) throw tooMany();
    known?.settle([]);
    this.byId.set(claimId, waiter);
    waiter.asked.worker.waitingClaims++;
    for (const id of models.keys()) {
      const waiters = this.byModel.get(id) ?? new Set();
      this.byModel.set(id, waiters.add(waiter));
    }
  }

  remove(waiter: ClaimWaiter): void {
    const { claimId, models, worker } = waiter.asked;
    worker.waitingClaims--;
    if (this.byId.get(claimId) === waiter) this.byId.delete(claimId);
    for (const id of models.keys()) {
      const waiters = this.byModel.get(id);
      waiters?.delete(waiter);
      if (waiters?.size === 0) this.byModel.delete(id);
    }
  }
}

function tooMany(): DomainError {
  const detail = `A worker may have at most ${maxOfWorker} open claims. Ask for more runs with "max" in one claim.`;
  return new DomainError('caller_busy', detail, { retryAfterSeconds: 1 });
}

export function conflictOf(): DomainError {
  const detail =
    'This claim_id was used with another worker, other models or another max. Use a new claim_id.';
  return new DomainError('claim_conflict', detail);
}
