import { pause } from './deadline.js';
import { type Link, reopened } from './reopened.js';
import { type Call, jsonOfEvent, secondsOf, type Transport } from './transport.js';
import type { Status } from './types.js';

export interface Followed {
  requestId: string;
  logs?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Seconds that the service is asked to hold an answer. Many proxies cut a connection after 60 s. */
export const holdSeconds = 30;
/** Pauses between polls of a service that does not hold its answers. */
const pollMs = { first: 200, last: 2_000, max: 30_000 };

/** How long a request is polled whose stream cannot be opened. Doubled each time, because the next try costs seconds. */
const spellMs = { first: 30_000, max: 600_000 };

/** Yields how many milliseconds to poll until a stream is tried again. */
export function* spells(): Generator<number, never, void> {
  for (let ms = spellMs.first; ; ms = Math.min(ms * 2, spellMs.max)) yield ms;
}

/**
 * Yields each change of a request until it completes: from the stream, or by polling while streams do not get through.
 */
export async function* follow(transport: Transport, followed: Followed): AsyncGenerator<Status, void, void> {
  const seen = new Seen();
  const link: Link = { failed: 0, isProven: false };
  for (const forMs of spells()) {
    yield* streamed(transport, followed, seen, link);
    // Each call is held only 2 s, so that progress is visible.
    if (!seen.hasCompleted) yield* polled(transport, followed, { hold: 2, forMs }, seen);
    if (seen.hasCompleted) return;
  }
}

/**
 * Like `follow`, by polling only. Each call is held for up to `hold` seconds. With `forMs`, ends after this time even if
 * the request has not completed, and once there was an answer, an outage may last as long as it likes.
 */
export async function* polled(
  transport: Transport,
  followed: Followed,
  { hold, forMs = Infinity }: { hold: number; forMs?: number },
  seen = new Seen(),
): AsyncGenerator<Status, void, void> {
  const untilMs = performance.now() + forMs;
  const call: Call = { ...callOf(followed, 'status'), hold };
  for (let pauseMs = pollMs.first; ; pauseMs = Math.min(pauseMs * 1.5, pollMs.last)) {
    const limit = forMs < Infinity && seen.hasAnswer ? Infinity : undefined;
    const { headers, body } = await transport.send<Status>(call, limit);
    const news = seen.withAllLogs(body);
    if (news !== undefined) yield news;
    if (seen.hasCompleted || performance.now() > untilMs) return;
    if (headers.has('preference-applied')) continue;
    const asked = (secondsOf(headers.get('retry-after')) ?? 0) * 1_000;
    await pause(Math.min(Math.max(asked, pauseMs), pollMs.max), followed.signal);
  }
}

/** Ends before the request completes if no stream can be opened. */
async function* streamed(transport: Transport, followed: Followed, seen: Seen, link: Link) {
  link.failed = 0;
  seen.logsFromStart();
  for await (const { data } of reopened(transport, callOf(followed, 'status', 'stream'), link)) {
    const news = seen.withNewLogs(jsonOfEvent(data) as Status);
    if (news !== undefined) yield news;
    if (seen.hasCompleted) return;
    if (news !== undefined) link.failed = 0;
  }
}

function callOf({ requestId, logs, signal }: Followed, ...route: string[]): Call {
  const path = ['queue', 'requests', requestId, ...route];
  return { path, query: { logs: logs === true ? 1 : undefined }, signal, requestId };
}

/** What a follower has already received, from the stream or by polling. */
export class Seen {
  /** True: the service has answered before, so an outage may last as long as it likes. */
  hasAnswer = false;
  hasCompleted = false;
  private last = '';
  /** Log entries received. */
  private logs = 0;
  /** How many of these the stream sends again. */
  private repeated = 0;

  /** The stream begins with the first log entry, whatever was received before. */
  logsFromStart(): void {
    this.repeated = this.logs;
  }

  /** undefined: the status has nothing new. */
  withNewLogs(status: Status): Status | undefined {
    if (status.logs === undefined) return this.news(status);
    const logs = status.logs.slice(this.repeated);
    this.repeated -= status.logs.length - logs.length;
    this.logs += logs.length;
    return this.news({ ...status, logs });
  }

  withAllLogs(status: Status): Status | undefined {
    this.logsFromStart();
    return this.withNewLogs(status);
  }

  private news(status: Status): Status | undefined {
    this.hasAnswer = true;
    this.hasCompleted = status.status === 'COMPLETED';
    const text = JSON.stringify({ ...status, logs: undefined });
    if (text === this.last && (status.logs?.length ?? 0) === 0) return undefined;
    this.last = text;
    return status;
  }
}
