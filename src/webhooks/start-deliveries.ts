import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../database/database.js';
import { isDatabaseUnavailable } from '../errors/database-error.js';
import { QueueEvents } from '../queue/queue-events.js';
import { Batcher } from '../tools/batcher.js';
import { Sender } from './duties/sender.js';
import { addStartDeliveries } from './queries/add-start-deliveries.js';

/**
 * Writes the deliveries for the URLs that requests name for their starts. They follow the commit of a start, so that
 * claims cost nothing. If they are lost with their node, the request starts again, or fails.
 */
@Injectable()
export class StartDeliveries {
  private readonly log = new Logger(StartDeliveries.name);
  private readonly started: Batcher<string, void>;

  constructor(
    private readonly database: Database,
    private readonly sender: Sender,
    private readonly events: QueueEvents,
  ) {
    this.started = new Batcher((ids) => this.write(ids), { maxItems: 500 });
  }

  /** Called once, if there is an adapter whose callers may name such a URL. */
  begin(): void {
    this.events.on('request.started', (requests) => {
      for (const { id } of requests) this.started.add(id).catch((error: unknown) => this.note(error));
    });
  }

  private async write(ids: string[]): Promise<void[]> {
    if (await addStartDeliveries(this.database, ids)) this.sender.wake();
    return ids.map(() => undefined);
  }

  private note(error: unknown): void {
    if (!isDatabaseUnavailable(error)) this.log.error({ err: error }, 'webhooks of starts cannot be written');
  }
}
