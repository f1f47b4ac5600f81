import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { Socket } from 'node:net';

/** The server's timeout began before ours, and its close takes a while to arrive. */
const marginMs = 1_000;
/** A server that vanished silently is detected while connecting, but not on an idle connection. */
const longestIdleMs = 5_000;
/** After this time, a new server behind the same name gets its share of connections. */
const oldestMs = 60_000;

/**
 * If a host has several addresses, Node gives an address up once it tries the next one. With its default of 250 ms, a
 * host that is further away could never be reached if its last address refuses. This time is enough for one lost
 * packet, which is sent again after 1 s.
 */
export const agentOptions = { keepAlive: true, autoSelectFamilyAttemptTimeout: 2_000 };

interface KeepAlive {
  since: number;
  /** The connection may be reused if it idles for less. 0 or less: it is not kept. */
  idleMs: number;
  /** While it idles, the time until which it may be reused. */
  until: number;
}

/**
 * The connections of one client. A connection is reused only after a successful answer, and only within the time that
 * its server promised (`Keep-Alive: timeout`, draft-thomson-hybi-http-timeout-03, 2). `mayRepeat`: without a promise, it
 * may idle for 5 s, because a call that meets its end can be sent again.
 */
export class Connections {
  private readonly known = new WeakMap<Socket, KeepAlive>();
  readonly agent = this.keepKnown(new Agent(agentOptions));
  readonly secureAgent = this.keepKnown(new SecureAgent(agentOptions));

  constructor(readonly mayRepeat: boolean) {}

  /** Closes all connections, also those in use. */
  close(): void {
    this.agent.destroy();
    this.secureAgent.destroy();
  }

  /**
   * Returns whether an idle connection may still be used for a call. The agent also offers connections whose end it
   * has not noticed yet. After the process was suspended, it offers expired ones too.
   */
  mayReuse(socket: Socket): boolean {
    return socket.writable && performance.now() < (this.known.get(socket)?.until ?? 0);
  }

  /** Records how long the connection of an answer may be kept. */
  noteAnswer(socket: Socket, { statusCode = 0, headers }: IncomingMessage): void {
    const now = performance.now();
    const since = this.known.get(socket)?.since ?? now;
    const isKept = statusCode < 300 && now - since <= oldestMs;
    const unpromisedMs = this.mayRepeat ? longestIdleMs : 0;
    const promisedMs = promiseOf(String(headers['keep-alive'] ?? ''));
    const idleMs = promisedMs === undefined ? unpromisedMs : Math.min(promisedMs - marginMs, longestIdleMs);
    this.known.set(socket, { since, idleMs: isKept ? idleMs : 0, until: Infinity });
  }

  private keepKnown<A extends Agent>(agent: A): A {
    const reuse = agent.reuseSocket.bind(agent);
    return Object.assign(agent, {
      keepSocketAlive: (socket: Socket): boolean => {
        const entry = this.known.get(socket);
        if (entry === undefined || entry.idleMs <= 0) return false;
        entry.until = performance.now() + entry.idleMs;
        socket.unref();
        // The agent closes an idle connection at its timeout.
        socket.setTimeout(entry.idleMs);
        return true;
      },
      reuseSocket: (socket: Socket, request: ClientRequest): void => {
        socket.setTimeout(0);
        reuse(socket, request);
      },
    });
  }
}

/** Returns the milliseconds of a field such as `timeout=5, max=100`. `max=0` revokes the promise. */
function promiseOf(field: string): number | undefined {
  if (/\bmax=0+\b/i.test(field)) return 0;
  const seconds = /\btimeout=(\d{1,6})\b/i.exec(field)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}
