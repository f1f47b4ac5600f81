import type { Socket } from 'node:net';

/**
 * For a connection with many calls ahead. When it closes, Node makes an error for each call that is unanswered, and reads
 * its stack, which takes a tenth of a millisecond each. Without frames that costs next to nothing.
 */
export function closeWithoutStacks(socket: Socket): void {
  const { stackTraceLimit } = Error;
  socket.prependListener('close', () => (Error.stackTraceLimit = 0));
  socket.on('close', () => (Error.stackTraceLimit = stackTraceLimit));
}
