import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { Socket } from 'node:net';

/** The server's time began to run before ours did, and its word that it is over takes a while. */
const marginMs = 1_000;
/** A server that vanished without a word is noticed while connecting, but not on a connection that is there. */
const longestIdleMs = 5_000;
/** A new server behind the same name gets its share by then. */
const oldestMs = 60_000;

interface KeepAlive {
  since: number;
  /** It may be used again if it idles for less; 0 or less: it is not kept. */
  idleMs: number;
  /** While it idles: until when it may be used. */
  until: number;
}

const known = new WeakMap<Socket, KeepAlive>();

/**
 * A POST must not be sent into a connection that is about to be closed: whether it was read could not be known, and
 * sent again it might be a second run. So a connection is used again only within the time for which its server has
 * promised to keep it (`Keep-Alive: timeout`, draft-thomson-hybi-http-timeout-03, 2), and only if it answered with
 * success; all others carry one call.
 */
function keepAsPromised<A extends Agent>(agent: A): A {
  const reuse = agent.reuseSocket.bind(agent);
  return Object.assign(agent, {
    keepSocketAlive(socket: Socket): boolean {
      const entry = known.get(socket);
      if (entry === undefined || entry.idleMs <= 0) return false;
      entry.until = performance.now() + entry.idleMs;
      socket.unref();
      // The agent closes an idle connection at its time-out.
      socket.setTimeout(entry.idleMs);
      return true;
    },
    reuseSocket(socket: Socket, request: ClientRequest): void {
      socket.setTimeout(0);
      reuse(socket, request);
    },
  });
}

export const agent = keepAsPromised(new Agent({ keepAlive: true }));
export const secureAgent = keepAsPromised(new SecureAgent({ keepAlive: true, maxCachedSessions: 0 }));

/**
 * Whether a call may still be sent into an idle connection. The agent hands out those whose end it has not yet seen; and
 * in a process that was stopped for a while, those whose time is over.
 */
export function mayReuse(socket: Socket): boolean {
  return socket.writable && performance.now() < (known.get(socket)?.until ?? 0);
}

/** Notes for how long the connection of an answer may be kept after it. */
export function noteAnswer(socket: Socket, { statusCode = 0, headers }: IncomingMessage): void {
  const now = performance.now();
  const since = known.get(socket)?.since ?? now;
  const isOld = now - since > oldestMs;
  const promisedMs = statusCode < 300 && !isOld ? promiseOf(String(headers['keep-alive'] ?? '')) : 0;
  known.set(socket, { since, idleMs: Math.min(promisedMs - marginMs, longestIdleMs), until: Infinity });
}

/** In milliseconds, of a field such as `timeout=5, max=100`; `max=0` takes it back. */
function promiseOf(field: string): number {
  if (/\bmax=0+\b/i.test(field)) return 0;
  return Number(/\btimeout=(\d{1,6})\b/i.exec(field)?.[1] ?? 0) * 1_000;
}
