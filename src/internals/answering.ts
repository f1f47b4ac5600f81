// Relies on an inside of Node: the answer that its server is about to write on a socket has no public name.
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Whether the head of an answer has been sent on this socket, and its end has not. */
export function isAnswering(socket: Duplex): boolean {
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent === true;
}
