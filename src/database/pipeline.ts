import { isRefusedRow } from '../errors/database-error.js';
import type { Queries, Statement } from './statement.js';

/** A connection borrowed by the pipeline. Statements may be sent on it one after another. */
export interface PipelineConnection {
  query<Row extends object>(statement: Statement, values: unknown[]): Promise<Row[]>;
  /** Returns whether another caller waits for a connection. */
  isWanted(): boolean;
  giveBack(isUsable: boolean): void;
}

/** A borrowed connection, kept while any statement is in progress. */
class Borrowed {
  underWay = 0;
  /** A statement failed with an error that a new connection may fix. */
  isBroken = false;
  /** The connection takes no more statements. */
  isEnding = false;
  readonly onEnd: (() => void)[] = [];

  constructor(readonly connection: Promise<PipelineConnection>) {}
}

/**
 * Sends statements on one connection without waiting for answers. PostgreSQL runs, commits and answers them one after
 * another, in the order in which they were sent. It runs one while the process prepares the next. The connection
 * returns to the pool when nothing is in progress, and soon when other callers wait for one.
 */
export class Pipeline implements Queries {
  private borrowed: Borrowed | undefined;

  constructor(private readonly connect: () => Promise<PipelineConnection>) {}

  async query<Row extends object>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    // On another connection, a statement could overtake those still in progress on this one.
    while (this.borrowed?.isEnding) await new Promise<void>((resume) => this.borrowed!.onEnd.push(resume));
    const borrowed = (this.borrowed ??= new Borrowed(this.connect()));
    borrowed.underWay++;
    try {
      const connection = await borrowed.connection;
      const answer = connection.query<Row>(statement, values);
      borrowed.isEnding ||= connection.isWanted();
      return await answer;
    } catch (error) {
      if (!isRefusedRow(error)) borrowed.isBroken = borrowed.isEnding = true;
      throw error;
    } finally {
      if (--borrowed.underWay === 0) await this.close(borrowed);
    }
  }

  private async close(borrowed: Borrowed): Promise<void> {
    this.borrowed = undefined;
    const connection = await borrowed.connection.catch(() => undefined);
    connection?.giveBack(!borrowed.isBroken);
    for (const resume of borrowed.onEnd) resume();
  }
}
