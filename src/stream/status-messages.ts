import type { MessageEvent } from '@nestjs/common';
import { Observable, type Observer, type Subscriber } from 'rxjs';
import type { LogEntry } from '../queue/runs/run-log.js';
import { hasSameProgress, type Snapshot } from '../queue/reads/status-row.js';

/** How far a client has read, as encoded in the id of its last event. */
export interface StreamPlace {
  /** The id of the status row that it has seen, and of the last entry of the log. */
  upTo: number;
  /** A sum of the status that it has seen, because positions and progress change within one row. */
  shown?: string | undefined;
}

const placeId = /^(\d{1,15})(?:\.(\d{1,10}))?$/;

/** undefined: no stream has sent this id. */
export function placeOf(id: string): StreamPlace | undefined {
  const [, upTo, shown] = placeId.exec(id) ?? [];
  return upTo === undefined ? undefined : { upTo: Number(upTo), shown };
}

const idOf = ({ upTo, shown }: StreamPlace): string => (shown === undefined ? `${upTo}` : `${upTo}.${shown}`);

interface StatusMessagesOptions {
  snapshots: Observable<Snapshot>;
  /** Where the stream resumes; undefined: at the beginning. */
  after: StreamPlace | undefined;
  /** undefined: the caller did not ask for logs. */
  readLog: ((after: number, upTo: number) => Promise<LogEntry[]>) | undefined;
  /** Returns the status object as JSON. */
  render: (snapshot: Snapshot, logs: LogEntry[] | undefined) => string;
}

/**
 * Turns snapshots into messages, with one message per visible change and each log entry once. While a log is being
 * read, changes within the same state are merged into one message, so that a busy request builds up no queue. Nest
 * writes the messages in the format of SSE.
 */
export function statusMessages(options: StatusMessagesOptions): Observable<MessageEvent> {
  return new Observable((subscriber) => options.snapshots.subscribe(new StatusMessages(options, subscriber)));
}

/** One object per stream, without closures, because there may be ten thousand of them. */
class StatusMessages implements Observer<Snapshot> {
  private sentUpTo: number;
  private sent: Snapshot | undefined;
  private waiting: Snapshot[] | undefined;
  private pumping = false;
  private ended = false;

  constructor(
    private readonly options: StatusMessagesOptions,
    private readonly subscriber: Subscriber<MessageEvent>,
  ) {
    this.sentUpTo = options.after?.upTo ?? 0;
  }

  next(snapshot: Snapshot): void {
    const waiting = (this.waiting ??= []);
    if (waiting.at(-1)?.row.state === snapshot.row.state) waiting.pop();
    waiting.push(snapshot);
    void this.pump();
  }

  error(error: unknown): void {
    this.subscriber.error(error);
  }

  complete(): void {
    this.ended = true;
    void this.pump();
  }

  private async pump(): Promise<void> {
    if (this.pumping) return;
    this.pumping = true;
    const { readLog } = this.options;
    try {
      for (let snapshot; !this.subscriber.closed && (snapshot = this.waiting?.shift()) !== undefined;) {
        const { state, lastEventId } = snapshot.row;
        if (readLog === undefined) this.send(snapshot, undefined);
        // A waiting request shows no log. Log lines of its last attempt are sent when it runs again or has ended.
        else if (state === 'IN_QUEUE' || lastEventId <= this.sentUpTo) this.send(snapshot, []);
        else this.send(snapshot, await readLog(this.sentUpTo, lastEventId));
      }
      this.waiting = undefined; // otherwise ten thousand streams would each keep an array that they needed once
      if (this.ended) this.subscriber.complete();
    } catch {
      // The database failed during the stream. After the close, the client reconnects with its Last-Event-ID.
      this.subscriber.complete();
    } finally {
      this.pumping = false;
    }
  }

  private send(snapshot: Snapshot, logs: LogEntry[] | undefined): void {
    const { state, lastEventId } = snapshot.row;
    if (logs === undefined || state !== 'IN_QUEUE') this.sentUpTo = Math.max(this.sentUpTo, lastEventId);
    const hasEntries = (logs?.length ?? 0) > 0;
    if (looksLike(snapshot, this.sent) && !hasEntries) return;
    const shown = state === 'COMPLETED' ? undefined : sumOf(snapshot);
    const isKnown = this.sent === undefined && shown !== undefined && shown === this.options.after?.shown;
    this.sent = snapshot;
    // The comment shows a client that has reconnected that the stream is open.
    if (isKnown && !hasEntries) return this.subscriber.next({ comment: 'nothing new' });
    const id = idOf({ upTo: this.sentUpTo, shown });
    this.subscriber.next({ id, data: this.options.render(snapshot, logs) });
  }
}

/**
 * Returns whether a status object would be the same, except for its logs. With the same state and attempt, nothing has
 * happened in between.
 */
function looksLike({ row, position, reason, estimate }: Snapshot, other: Snapshot | undefined): boolean {
  if (!hasSameProgress(row, other?.row)) return false;
  const isSameState = row.state === other?.row.state && row.attempt === other.row.attempt;
  const isSamePlace = position === other?.position && reason === other.reason;
  return isSameState && isSamePlace && estimate === other.estimate;
}

/** Returns a checksum (FNV-1a) of what a status shows, without logs and estimates. */
function sumOf({ row: { state, attempt, progress }, position, reason }: Snapshot): string {
  const shown = [state, attempt, position, reason, progress?.value, progress?.message].join(' ');
  let sum = 0x811c9dc5;
  for (let at = 0; at < shown.length; at++) sum = Math.imul(sum ^ shown.charCodeAt(at), 0x01000193);
  return String(sum >>> 0);
}
