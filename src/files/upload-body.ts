import type { IncomingMessage } from 'node:http';
import { DomainError } from '../errors/domain-error.js';

/** The chunks of a body as they come; `onStall`: none has come for so long, though one was wanted. */
export async function* chunksOf(
  request: IncomingMessage,
  stallMs: number,
  onStall: () => void,
): AsyncGenerator<Buffer> {
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  let isWaiting = false;
  const timer = setTimeout(() => void (isWaiting ? onStall() : timer.refresh()), stallMs);
  try {
    for (;;) {
      isWaiting = true;
      timer.refresh();
      const { done, value } = (await chunks.next()) as IteratorResult<Buffer, unknown>;
      isWaiting = false;
      if (done === true) break;
      yield value;
    }
  } catch (error) {
    throw request.complete ? error : brokenOff();
  } finally {
    clearTimeout(timer);
    await chunks.return?.();
  }
  if (!request.complete) throw brokenOff();
}

function brokenOff(): DomainError {
  return new DomainError('invalid_upload', 'The upload broke off before all of it had arrived.');
}
