import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import pg from 'pg';
import { Subject } from 'rxjs';
import { clock } from './clock.js';

/** Heartbeats are statements too, sent at least every 1.8 s. So no answer came for longer than two heartbeats. */
const silentMs = 4_000;
/** After a failed statement, this much silence is enough. */
const silentAfterFailureMs = 2_000;
const lookEveryMs = 250;
/** The process itself was blocked for this long. Answers that arrived meanwhile must be read first. */
const lateMs = 1_000;

/** SQLSTATE classes of an unavailable server: connection errors, too many connections, shutdown and startup. */
const away = /^(08|53300|57P)/;

export interface DatabaseState {
  isUp: boolean;
  /** While the database is away, the time of its last answer, in milliseconds since 1970. */
  awaySinceMs: number | null;
}

/**
 * Knows whether this node reaches its database, judged by the statements that it sends anyway. A database that hangs
 * is detected like one that refuses, because no answer comes.
 */
@Injectable()
export class DatabaseWatch implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** Emits each change of `state`. */
  readonly changes = new Subject<DatabaseState>();
  private current: DatabaseState = { isUp: true, awaySinceMs: null };
  /** A time of `performance.now()`. */
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

  /** Records that a statement was answered. */
  noteAnswer(): void {
    this.answeredAt = performance.now();
  }

  /**
   * Records that a statement or a connection failed. If the server refused the statement itself, that counts as an
   * answer.
   */
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
    this.current = { isUp, awaySinceMs: isUp ? null : Math.round(clock.now() - silence) };
    this.changes.next(this.current);
  }
}
