import type { Request, Response } from 'express';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../errors/domain-error.js';
import { askForBody } from '../http/body-reader.js';
import { answerProblem } from '../http/problem.js';
import { slowBody, tooSlow } from '../http/slow-body.js';

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

/** Yields the chunks of a body, which a client that waits is asked for. A client that is too slow is disconnected. */
export function bodyOfUpload(request: Request, response: Response): AsyncGenerator<Buffer> {
  askForBody(request, response);
  return chunksOf(request, () => giveUpUpload(request, response));
}

/** Answers an upload that is too slow, in case the client still listens, and ends the connection. */
export function giveUpUpload(request: Request, response: Response): void {
  response.once('finish', () => request.destroy());
  answerProblem(tooSlow(), request.originalUrl, response);
}

function brokenOff(): DomainError {
  return new DomainError('invalid_upload', 'The upload ended before all of it had arrived. Send it again.');
}
