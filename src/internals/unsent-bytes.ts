// Relies on an inside of Node: what the operating system has not taken yet of a write has no public name.
import type { Socket } from 'node:net';

/** Bytes that were written to a socket and that its peer has not made room for. */
export function unsentBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null };
  return socket.writableLength + (handle?.writeQueueSize ?? 0);
}
