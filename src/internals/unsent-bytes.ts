// Relies on a Node internal: there is no public name for the bytes of a write that the operating system has not
// accepted yet.
import type { Socket } from 'node:net';

/** Returns the bytes written to a socket that its peer has not made room for. */
export function unsentBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null };
  return socket.writableLength + (handle?.writeQueueSize ?? 0);
}
