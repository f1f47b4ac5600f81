import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import pg from 'pg';
import { Subject } from 'rxjs';

/** Heartbeats are statements too, and come at least every 1.8 s: nothing was answered for longer than two of them. */
const silentMs = 4_000;
/** Where a statement has failed since the last answer, less silence is enough. */
const silentAfterFailureMs = 2_000;
const lookEveryMs = 250;
/** The process itself has stood still: what has arrived meanwhile is read first. */
const lateMs = 1_000;

/** SQLSTATE classes of a server that is not there for us: connection, no room for connections, shutdown and start. */
const away = /^(08|53300|57P)/;

export interface DatabaseState {
  isUp: boolean;
  /** While it is away: when it answered last, in milliseconds since 1970, by the clock of this process. */
  awaySinceMs: number | null;
}

/**
 * Whether this node reaches its database, judged by the statements that it sends anyway. A database that hangs is found
 * like one that refuses: no answer comes.
 */
@Injectable()
export class DatabaseWatch implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Emits each change of `state`. */
  readonly changes = new Subject<DatabaseState>();
  private current: DatabaseState = { isUp: true, awaySinceMs: null };
  /** Times as `performance.now()`. */
  private answeredAt = performance.now();
  private failedAt = -Infinity;
  private lookedAt = performance.now();
  private timer: NodeJS.Timeout | undefined;

  get state(): DatabaseState {
    return this.current;
  }

  onApplicationBootstrap(): void {
    this.answeredAt = this.lookedAt = performance.now();
    this.timer ??= setInterval(() => this.look(), lookEveryMs).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** A statement was answered. */
  noteAnswer(): void {
    this.answeredAt = performance.now();
  }

  /** A statement failed, or no connection could be had; a refusal of the statement itself is an answer. */
  noteFailure(error: unknown): void {
    if (error instanceof pg.DatabaseError && !away.test(error.code ?? '')) this.noteAnswer();
    else this.failedAt = performance.now();
  }

  private look(): void {
    const now = performance.now();
    const isLate = now - this.lookedAt > lateMs;
    this.lookedAt = now;
    if (isLate) return;
    const silence = now - this.answeredAt;
    const hasFailed = this.failedAt > this.answeredAt;
    const isUp = silence < (hasFailed ? silentAfterFailureMs : silentMs);
    if (isUp === this.current.isUp) return;
    this.current = { isUp, awaySinceMs: isUp ? null : Math.round(Date.now() - silence) };
    this.changes.next(this.current);
  }
}
