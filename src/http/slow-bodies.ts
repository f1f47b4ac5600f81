import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const unhurried = new WeakSet<Duplex>();

/** Lets the body of a call take longer to arrive than calls may: who reads it minds that it comes at all. */
export function allowSlowBody({ socket }: IncomingMessage): void {
  unhurried.add(socket);
}

export function endSlowBody({ socket }: IncomingMessage): void {
  unhurried.delete(socket);
}

export const maySendSlowly = (socket: Duplex): boolean => unhurried.has(socket);
