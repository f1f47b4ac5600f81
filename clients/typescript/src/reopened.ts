import { mayPass } from './errors.js';
import type { ServerEvent } from './sse.js';
import { type Call, pauseBetween, type Transport } from './transport.js';

/** A stream that lasted this long counts as a success, however it ended. */
const livedMs = 10_000;

/**
 * Yields the events of a stream over as many connections as needed, each resumed where the last one broke. Ends if no
 * stream can be opened. The reader sets `tries.failed` to 0 whenever an event was new.
 */
export async function* reopened(
  transport: Transport,
  call: Call & { firstMs?: number },
  tries: { failed: number },
): AsyncGenerator<ServerEvent, void, void> {
  for (; tries.failed <= transport.retries; tries.failed++) {
    const opened = performance.now();
    let hasSpoken = false;
    let retryAfter: number | undefined;
    try {
      for await (const event of transport.events(call)) {
        hasSpoken = true;
        call.headers = { 'last-event-id': event.id };
        yield event;
      }
    } catch (error) {
      if (!mayPass(error)) throw error;
      if (!hasSpoken && ['timeout', 'invalid_response'].includes(error.code)) return;
      ({ retryAfter } = error);
    }
    if (performance.now() - opened > livedMs) tries.failed = 0;
    await pauseBetween(tries.failed, call, retryAfter);
  }
}
