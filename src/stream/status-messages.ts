import type { MessageEvent } from '@nestjs/common';
import { Observable, type Observer, type Subscriber } from 'rxjs';
import type { LogEntry } from '../queue/runs/run-log.js';
import { hasSameProgress, type Snapshot } from '../queue/reads/status-row.js';

interface StatusMessagesOptions {
  snapshots: Observable<Snapshot>;
  /** The event id after which the stream resumes. 0: from the beginning. */
  after: number;
  /** undefined: the caller did not ask for logs. */
  readLog: ((after: number, upTo: number) => Promise<LogEntry[]>) | undefined;
  /** Returns the status object as JSON. */
  render: (snapshot: Snapshot, logs: LogEntry[] | undefined) => string;
}

/**
 * Turns snapshots into messages, with one message per visible change and each log entry once. While a log is being
 * read, changes within the same state are merged into one message. So a busy request builds up no queue.
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
    this.sentUpTo = options.after;
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
    if (looksLike(snapshot, this.sent) && (logs?.length ?? 0) === 0) return;
    this.sent = snapshot;
    this.subscriber.next({ id: String(this.sentUpTo), data: this.options.render(snapshot, logs) });
  }
}

/**
 * Returns whether a status object would be the same, apart from its logs. A state is always left before it occurs
 * again.
 */
function looksLike({ row, position, reason, estimate }: Snapshot, other: Snapshot | undefined): boolean {
  if (!hasSameProgress(row, other?.row)) return false;
  const isSameState = row.state === other?.row.state && row.attempt === other.row.attempt;
  const isSamePlace = position === other?.position && reason === other.reason;
  return isSameState && isSamePlace && estimate === other.estimate;
}
