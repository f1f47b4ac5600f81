import { isRefusedRow } from '../errors/database-error.js';
import type { Queries, Statement } from './statement.js';

/** A connection that is lent to the pipeline; statements may be sent into it one after the other. */
export interface PipelineConnection {
  query<Row extends object>(statement: Statement, values: unknown[]): Promise<Row[]>;
  /** Whether another caller waits for a connection, which this one would be. */
  isWanted(): boolean;
  giveBack(isUsable: boolean): void;
}

/** While anything is under way. */
class Lease {
  underWay = 0;
  /** A statement failed in a way that a new connection may help against. */
  isBroken = false;
  /** It takes no more statements. */
  isEnding = false;
  readonly onEnd: (() => void)[] = [];

  constructor(readonly connection: Promise<PipelineConnection>) {}
}

/**
 * Statements that do not wait for each other, on one connection: PostgreSQL runs, commits and answers them one after
 * the other, in the order in which they were sent. It works on one while the process reads what the next will carry.
 * The pool has the connection back whenever nothing is under way, and soon when others wait for one.
 */
export class Pipeline implements Queries {
  private lease: Lease | undefined;

  constructor(private readonly connect: () => Promise<PipelineConnection>) {}

  async query<Row extends object>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    // On another connection a statement could overtake those that are still under way on this one.
    while (this.lease?.isEnding) await new Promise<void>((resume) => this.lease!.onEnd.push(resume));
    const lease = (this.lease ??= new Lease(this.connect()));
    lease.underWay++;
    try {
      const connection = await lease.connection;
      const answer = connection.query<Row>(statement, values);
      lease.isEnding ||= connection.isWanted();
      return await answer;
    } catch (error) {
      if (!isRefusedRow(error)) lease.isBroken = lease.isEnding = true;
      throw error;
    } finally {
      if (--lease.underWay === 0) await this.close(lease);
    }
  }

  private async close(lease: Lease): Promise<void> {
    this.lease = undefined;
    const connection = await lease.connection.catch(() => undefined);
    connection?.giveBack(!lease.isBroken);
    for (const resume of lease.onEnd) resume();
  }
}
