import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { Socket } from 'node:net';

/** The server's timeout began before ours, and its close takes a while to arrive. */
const marginMs = 1_000;
/** A server that vanished silently is detected while connecting, but not on an idle connection. */
const longestIdleMs = 5_000;
/** After this time, a new server behind the same name gets its share of connections. */
const oldestMs = 60_000;

interface KeepAlive {
  since: number;
  /** The connection may be reused if it idles for less. 0 or less: it is not kept. */
  idleMs: number;
  /** While it idles, the time until which it may be reused. */
  until: number;
}

const known = new WeakMap<Socket, KeepAlive>();

/**
 * A POST must not be sent on a connection that is about to be closed. Nobody could know whether the server read it, and
 * sending it again might cause a second run. A connection is therefore reused only within the time that its server
 * promised (`Keep-Alive: timeout`, draft-thomson-hybi-http-timeout-03, 2), and only after a successful answer. Every
 * other connection carries one call.
 */
function keepAsPromised<A extends Agent>(agent: A): A {
  const reuse = agent.reuseSocket.bind(agent);
  return Object.assign(agent, {
    keepSocketAlive(socket: Socket): boolean {
      const entry = known.get(socket);
      if (entry === undefined || entry.idleMs <= 0) return false;
      entry.until = performance.now() + entry.idleMs;
      socket.unref();
      // The agent closes an idle connection at its timeout.
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
 * Returns whether an idle connection may still be used for a call. The agent also offers connections whose end it has
 * not noticed yet. After the process was suspended, it offers expired ones too.
 */
export function mayReuse(socket: Socket): boolean {
  return socket.writable && performance.now() < (known.get(socket)?.until ?? 0);
}

/** Records how long the connection of an answer may be kept. */
export function noteAnswer(socket: Socket, { statusCode = 0, headers }: IncomingMessage): void {
  const now = performance.now();
  const since = known.get(socket)?.since ?? now;
  const isOld = now - since > oldestMs;
  const promisedMs = statusCode < 300 && !isOld ? promiseOf(String(headers['keep-alive'] ?? '')) : 0;
  known.set(socket, { since, idleMs: Math.min(promisedMs - marginMs, longestIdleMs), until: Infinity });
}

/** Returns the milliseconds of a field such as `timeout=5, max=100`. `max=0` revokes the promise. */
function promiseOf(field: string): number {
  if (/\bmax=0+\b/i.test(field)) return 0;
  return Number(/\btimeout=(\d{1,6})\b/i.exec(field)?.[1] ?? 0) * 1_000;
}
