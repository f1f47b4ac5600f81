// Relies on a Node internal: there is no public name for the answer that the server is writing on a socket.
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Returns whether the head of an answer was sent on this socket, but not its end. */
export function isAnswering(socket: Duplex): boolean {
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent === true;
}
