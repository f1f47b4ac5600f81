import type { MessageEvent } from '@nestjs/common';
import { Observable } from 'rxjs';
import type { LogEntry } from '../queue/log-entry.js';
import type { StatusRow } from '../queue/status-row.js';
import type { Snapshot } from './status-sources.js';

export interface StatusMessagesOptions {
  snapshots: Observable<Snapshot>;
  /** The event id after which the stream goes on; 0 from the beginning. */
  after: number;
  /** undefined: the caller did not ask for logs. */
  readLog: ((after: number, upTo: number) => Promise<LogEntry[]>) | undefined;
  /** The status object as JSON. */
  render: (snapshot: Snapshot, logs: LogEntry[] | undefined) => string;
}

/**
 * Turns snapshots into messages: one a change that this stream shows, each log entry once. While a log is being read,
 * what changes without a change of state is folded into one message, so a busy request costs a stream no queue.
 */
export function statusMessages({
  snapshots,
  after,
  readLog,
  render,
}: StatusMessagesOptions): Observable<MessageEvent> {
  return new Observable((subscriber) => {
    let sentUpTo = after;
    let sent: Snapshot | undefined;
    const waiting: Snapshot[] = [];
    let pumping = false;
    let ended = false;

    const send = (snapshot: Snapshot, logs: LogEntry[] | undefined): void => {
      // A request that waits shows no log: what its last attempt said is carried when it runs or has ended.
      if (readLog === undefined || snapshot.row.state !== 'IN_QUEUE')
        sentUpTo = Math.max(sentUpTo, snapshot.row.lastEventId);
      if (sent !== undefined && looksLike(snapshot, sent) && (logs === undefined || logs.length === 0))
        return;
      sent = snapshot;
      subscriber.next({ id: String(sentUpTo), data: render(snapshot, logs) });
    };
    const hasLog = (row: StatusRow): boolean => row.state !== 'IN_QUEUE' && row.lastEventId > sentUpTo;

    const pump = async (): Promise<void> => {
      if (pumping) return;
      pumping = true;
      try {
        for (let snapshot; !subscriber.closed && (snapshot = waiting.shift()) !== undefined;) {
          if (readLog === undefined) send(snapshot, undefined);
          else if (hasLog(snapshot.row)) send(snapshot, await readLog(sentUpTo, snapshot.row.lastEventId));
          else send(snapshot, []);
        }
        waiting.length = 0; // or ten thousand streams keep the room that each needed once
        if (ended) subscriber.complete();
      } catch {
        // The database went away in mid-stream. Closing makes the client come back with its Last-Event-ID.
        subscriber.complete();
      } finally {
        pumping = false;
      }
    };

    return snapshots.subscribe({
      next: (snapshot) => {
        if (waiting.at(-1)?.row.state === snapshot.row.state) waiting.pop();
        waiting.push(snapshot);
        void pump();
      },
      error: (error: unknown) => subscriber.error(error),
      complete: () => {
        ended = true;
        void pump();
      },
    });
  });
}

/** Whether a status object would read the same, save for its logs. A state is left before it comes again. */
function looksLike(one: Snapshot, other: Snapshot): boolean {
  return (
    one.row.state === other.row.state &&
    one.row.attempt === other.row.attempt &&
    one.position === other.position
  );
}
