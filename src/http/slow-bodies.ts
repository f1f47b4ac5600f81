import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** How long a client may go on sending what is not wanted, so that it gets to read the answer. */
const lingerMs = 10_000;

const unhurried = new WeakSet<Duplex>();

/** Lets the body of a call take longer to arrive than calls may: who reads it minds that it comes at all. */
export function allowSlowBody({ socket }: IncomingMessage): void {
  unhurried.add(socket);
}

export function endSlowBody({ socket }: IncomingMessage): void {
  unhurried.delete(socket);
}

export const maySendSlowly = (socket: Duplex): boolean => unhurried.has(socket);

/** Reads the rest of a body that was answered already, and throws it away. */
export function discardRest(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.destroy(), lingerMs).unref();
  request.on('close', () => clearTimeout(timer));
  response.on('close', () => clearTimeout(timer));
  // In the next turn, when whoever read it before has let go of it.
  setImmediate(() => request.resume());
}
