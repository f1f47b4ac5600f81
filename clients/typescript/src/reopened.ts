import { mayPass } from './errors.js';
import type { ServerEvent } from './sse.js';
import { type Call, pauseBetween, type Transport } from './transport.js';

/** A stream that lasted this long counts as a success, however it ended. */
const livedMs = 10_000;

/** What is known about the stream of a request over all of its connections. */
export interface Link {
  /** Failures in a row. The reader sets it to 0 whenever an event was new. */
  failed: number;
  /** True: something has arrived before, which proves that streams get through. */
  isProven: boolean;
}

/**
 * Yields the events of a stream over as many connections as needed, each resumed where the last one broke. Once streams
 * have got through, an outage may last as long as it likes. Until then, ends if no stream can be opened.
 */
export async function* reopened(
  transport: Transport,
  call: Call & { firstMs?: number },
  link: Link,
): AsyncGenerator<ServerEvent, void, void> {
  for (;;) {
    const opened = performance.now();
    const hasLived = (): boolean => performance.now() - opened > livedMs;
    let hasBytes = false;
    const onBytes = (): void => void (hasBytes = link.isProven = true);
    try {
      for await (const event of transport.events(call, onBytes)) {
        call.headers = { 'last-event-id': event.id };
        yield event;
      }
      if (!hasBytes) return; // nothing more will come
      if (hasLived()) link.failed = 0;
      await pauseBetween(link.failed++, call);
    } catch (error) {
      if (!mayPass(error)) throw error;
      if (hasLived()) link.failed = 0;
      const isHeldBack = !link.isProven && ['timeout', 'invalid_response'].includes(error.code);
      if (isHeldBack || (!link.isProven && link.failed >= transport.retries)) return;
      link.failed = await transport.again(error, link.failed, call, Infinity);
    }
  }
}
