import type { Server, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

const lookMs = 20;

/** The answers that are not written to their end yet, so that a service that stops cuts none that its client would miss. */
@Injectable()
export class OpenAnswers {
  private readonly open = new Set<ServerResponse>();

  follow(server: Server): void {
    server.prependListener('request', (_, response) => {
      this.open.add(response);
      response.once('close', () => this.open.delete(response));
    });
  }

  /** Resolves once all have ended, or are over by `signal`. A stream of events is not waited for: it goes on elsewhere. */
  async ended(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && [...this.open].some(isMissed)) await delay(lookMs);
  }
}

function isMissed(response: ServerResponse): boolean {
  const type = String(response.getHeader('content-type') ?? '');
  // What a client is still sending it sends again elsewhere.
  return (response.headersSent || response.req.complete) && !type.startsWith('text/event-stream');
}
