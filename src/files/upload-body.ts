import type { IncomingMessage } from 'node:http';
import { DomainError } from '../errors/domain-error.js';
import { slowBody } from '../http/slow-body.js';

/** Yields the chunks of a body as they come. Calls `onSlow` when they come too slowly. */
export async function* chunksOf(request: IncomingMessage, onSlow: () => void): AsyncGenerator<Buffer> {
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  request.once(slowBody, onSlow);
  try {
    for (;;) {
      const { done, value } = (await chunks.next()) as IteratorResult<Buffer, unknown>;
      if (done === true) break;
      yield value;
    }
  } catch (error) {
    throw request.complete ? error : brokenOff();
  } finally {
    request.off(slowBody, onSlow);
    await chunks.return?.();
  }
  if (!request.complete) throw brokenOff();
}

function brokenOff(): DomainError {
  return new DomainError('invalid_upload', 'The upload ended before all of it had arrived. Send it again.');
}
