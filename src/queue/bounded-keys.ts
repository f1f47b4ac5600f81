import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../database/database.js';
import { type HeldQueue, maxReleased, release } from './queries/release.js';
import { QueueEvents } from './queue-events.js';

/** Releases parked requests into their queue, as far as the bound of their key has room. */
@Injectable()
export class BoundedKeys {
  /** Releases in progress, by key and model. `again`: something changed since the release began. */
  private readonly releases = new Map<string, { again: boolean; ended: Promise<void> }>();
  private readonly log = new Logger(BoundedKeys.name);

  constructor(
    private readonly database: Database,
    private readonly events: QueueEvents,
  ) {}

  /** Never rejects: the releaser retries a release that failed. */
  release(queue: HeldQueue): Promise<void> {
    const name = `${queue.keyId} ${queue.modelId}`;
    const known = this.releases.get(name);
    if (known !== undefined) {
      known.again = true;
      return known.ended;
    }
    const release = { again: true, ended: Promise.resolve() };
    this.releases.set(name, release);
    release.ended = this.releaseAll(queue, release)
      .catch((error: Error) => this.log.debug(`a release for ${name} failed: ${error.message}`))
      .finally(() => this.releases.delete(name));
    return release.ended;
  }

  /** Resolves once no release is in progress. */
  async idle(): Promise<void> {
    await Promise.all([...this.releases.values()].map(({ ended }) => ended));
  }

  private async releaseAll(queue: HeldQueue, round: { again: boolean }): Promise<void> {
    while (round.again) {
      round.again = false;
      const changed = await release(this.database, queue);
      if (changed.length === 0) continue;
      this.events.publish({
        held: changed.filter(({ isHeld }) => isHeld),
        released: changed.filter(({ isHeld }) => !isHeld),
        work: [queue.modelId],
      });
      round.again ||= changed.length >= maxReleased;
    }
  }
}
