import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { Coalesced } from '../../tools/coalesced.js';
import { type HeldQueue, maxReleased, release } from './queries/release.js';
import { QueueEvents } from '../queue-events.js';

/** Releases held requests into their queue, as far as the bound of their key has room. */
@Injectable()
export class BoundedKeys {
  /** Releases in progress, by key and model. */
  private readonly releases = new Map<string, Coalesced>();
  /** The number of releases that have failed. */
  failures = 0;
  private readonly log = new Logger(BoundedKeys.name);

  constructor(
    private readonly database: Database,
    private readonly events: QueueEvents,
  ) {}

  /** Never rejects: the releaser retries a release that failed. */
  release(queue: HeldQueue): Promise<void> {
    const name = `${queue.keyId} ${queue.modelId}`;
    let releases = this.releases.get(name);
    if (releases === undefined) {
      const work = (): Promise<void> =>
        this.releaseSome(queue).catch((error: Error) => {
          this.failures++;
          this.log.debug(`a release for ${name} failed: ${error.message}`);
        });
      releases = new Coalesced(work, { onEnd: () => this.releases.delete(name) });
      this.releases.set(name, releases);
    }
    return releases.run();
  }

  /** Resolves once no release is in progress. */
  async idle(): Promise<void> {
    await Promise.all([...this.releases.values()].map(({ ended }) => ended));
  }

  private async releaseSome(queue: HeldQueue): Promise<void> {
    const changed = await release(this.database, queue);
    if (changed.length === 0) return;
    this.events.publish({
      held: changed.filter(({ isHeld }) => isHeld),
      released: changed.filter(({ isHeld }) => !isHeld),
      work: [queue.modelId],
    });
    if (changed.length >= maxReleased) void this.release(queue);
  }
}
