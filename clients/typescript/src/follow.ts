import { pause } from './deadline.js';
import { reopened } from './reopened.js';
import { type Call, secondsOf, type Transport } from './transport.js';
import type { Status } from './types.js';

interface Followed {
  requestId: string;
  logs?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Pauses between polls of a service that does not hold its answers. */
const pollMs = { first: 200, last: 2_000, max: 30_000 };

/**
 * Yields each change of a request until it completes: from the stream, or by polling where streams do not get through.
 */
export async function* follow(transport: Transport, followed: Followed): AsyncGenerator<Status, void, void> {
  const seen = new Seen();
  yield* streamed(transport, followed, seen);
  // Each call is held only 2 s, so that progress is visible.
  if (!seen.hasCompleted) yield* polled(transport, followed, 2, seen);
}

/** Like `follow`, by polling only. Each call is held for up to `hold` seconds. */
export async function* polled(
  transport: Transport,
  followed: Followed,
  hold: number,
  seen = new Seen(),
): AsyncGenerator<Status, void, void> {
  const call: Call = { ...callOf(followed, 'status'), hold };
  for (let pauseMs = pollMs.first; ; pauseMs = Math.min(pauseMs * 1.5, pollMs.last)) {
    const { headers, body } = await transport.send<Status>(call);
    const news = seen.withAllLogs(body);
    if (news !== undefined) yield news;
    if (seen.hasCompleted) return;
    if (headers.has('preference-applied')) continue;
    const asked = (secondsOf(headers.get('retry-after')) ?? 0) * 1_000;
    await pause(Math.min(Math.max(asked, pauseMs), pollMs.max), followed.signal);
  }
}

/** Ends before the request completes if no stream can be opened. */
async function* streamed(transport: Transport, followed: Followed, seen: Seen) {
  const tries = { failed: 0 };
  for await (const { data } of reopened(transport, callOf(followed, 'status', 'stream'), tries)) {
    const news = seen.withNewLogs(JSON.parse(data) as Status);
    if (news !== undefined) yield news;
    if (seen.hasCompleted) return;
    if (news !== undefined) tries.failed = 0;
  }
}

function callOf({ requestId, logs, signal }: Followed, ...route: string[]): Call {
  const path = ['queue', 'requests', requestId, ...route];
  return { path, query: { logs: logs === true ? 1 : undefined }, signal, requestId };
}

/** What a follower has already received, from the stream or by polling. */
class Seen {
  hasCompleted = false;
  private last = '';
  private logs = 0;

  /** undefined: the status has nothing new. */
  withNewLogs(status: Status): Status | undefined {
    this.logs += status.logs?.length ?? 0;
    return this.news(status);
  }

  withAllLogs(status: Status): Status | undefined {
    if (status.logs === undefined) return this.news(status);
    const logs = status.logs.slice(this.logs);
    return this.withNewLogs({ ...status, logs });
  }

  private news(status: Status): Status | undefined {
    this.hasCompleted = status.status === 'COMPLETED';
    const text = JSON.stringify({ ...status, logs: undefined });
    if (text === this.last && (status.logs?.length ?? 0) === 0) return undefined;
    this.last = text;
    return status;
  }
}
