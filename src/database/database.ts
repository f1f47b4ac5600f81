import type { OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import type { Config } from '../config/config.js';
import { isRefusedRow } from '../errors/database-error.js';
import { namedQuery } from '../internals/named-query.js';
import { inOneTransaction } from '../internals/one-transaction.js';
import { DatabaseFaults } from './database-faults.js';
import type { DatabaseWatch } from './database-watch.js';
import { Pipeline, type PipelineConnection } from './pipeline.js';
import type { Queries, Statement } from './statement.js';

// bigint columns are sequence values and counts: all below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Runs the hot and contended statements, past TypeORM, which cannot prepare by name. */
export class Database implements Queries, OnApplicationShutdown {
  /** Told of each prepared statement, in milliseconds from its sending to its answer. */
  onStatement: ((name: string, ms: number) => void) | undefined;
  private readonly prepared: boolean;

  constructor(
    private readonly pool: pg.Pool,
    config: Pick<Config, 'databasePreparedStatements'>,
    private readonly faults = new DatabaseFaults(),
    private readonly watch?: DatabaseWatch,
  ) {
    this.prepared = config.databasePreparedStatements;
  }

  onApplicationShutdown(): Promise<void> {
    this.faults.stop();
    return this.pool.end();
  }

  get connections(): PoolState {
    return poolState(this.pool);
  }

  async query<Row extends object>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    return this.onConnection((client) => this.run<Row>(client, statement, values));
  }

  /** A statement that is not worth preparing, such as DDL. */
  async execute(text: string): Promise<void> {
    await this.onConnection((client) => this.plain(client, text));
  }

  /** For statements that follow each other in order without waiting. */
  pipeline(): Pipeline {
    return new Pipeline(() => this.lend());
  }

  /** One flat transaction on one connection; rolled back when `work` rejects. */
  async transaction<T>(work: (query: Queries['query']) => Promise<T>): Promise<T> {
    return this.onConnection(
      async (client) => {
        // A process that freezes in the middle of a transaction must not hold its locks against the others.
        await this.plain(client, `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'`);
        const result = await work((statement, values = []) => this.run(client, statement, values));
        await this.plain(client, 'COMMIT');
        return result;
      },
      // Closing a connection rolls back what was begun on it.
      () => false,
    );
  }

  /**
   * One transaction, sent as a whole: nothing waits for this process between two of its statements. Rows of the last, which
   * is the one that is measured.
   */
  async atomically<Row extends object>(...statements: (readonly [Statement, unknown[]])[]): Promise<Row[]> {
    return this.onConnection(
      (client) =>
        new Promise((resolve, reject) => {
          const { onStatement } = this;
          const sentAt = onStatement && performance.now();
          const queries = statements.map(([{ name, text }, values], i) =>
            namedQuery(this.prepared ? name : undefined, text, values, (error, results) => {
              if (i === statements.length - 1) onStatement?.(name, performance.now() - sentAt!);
              if (error) return reject(this.failed(error));
              this.watch?.noteAnswer();
              resolve([results].flat().at(-1)!.rows as Row[]);
            }),
          );
          client.query(inOneTransaction(queries));
        }),
      () => false,
    );
  }

  private async lend(): Promise<PipelineConnection> {
    const client = await this.connect();
    return {
      query: (statement, values) => this.run(client, statement, values),
      isWanted: () => this.pool.waitingCount > 0,
      giveBack: (isUsable) => giveBack(client, isUsable),
    };
  }

  private async connect(): Promise<pg.PoolClient> {
    const client = await this.pool.connect().catch((error: unknown) => {
      throw this.failed(error);
    });
    // The pool listens only to its idle clients: an end between two statements would have no listener, and be fatal.
    client.on('error', ignore);
    return client;
  }

  /** Not prepared, and without parameters. */
  private async plain(client: pg.PoolClient, text: string): Promise<void> {
    await client.query(text).catch((error: unknown) => {
      throw this.failed(error);
    });
  }

  private run<Row extends object>(
    client: pg.PoolClient,
    { name, text }: Statement,
    values: unknown[],
  ): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const { onStatement } = this;
      const sentAt = onStatement && performance.now();
      const query = namedQuery(this.prepared ? name : undefined, text, values, (error, result) => {
        onStatement?.(name, performance.now() - sentAt!);
        if (error) return reject(this.failed(error));
        this.watch?.noteAnswer();
        resolve(result.rows as Row[]);
      });
      client.query(query);
    });
  }

  /** What an error of a statement or a connection is to be thrown as. */
  private failed(error: unknown): Error {
    this.watch?.noteFailure(error);
    return this.faults.note(error) as Error;
  }

  private async onConnection<T>(
    work: (client: pg.PoolClient) => Promise<T>,
    isUsableAfter: (error: unknown) => boolean = isRefusedRow,
  ): Promise<T> {
    let client: pg.PoolClient | undefined;
    let isUsable = true;
    try {
      client = await this.connect();
      return await work(client);
    } catch (error) {
      isUsable = isUsableAfter(error);
      throw error;
    } finally {
      if (client !== undefined) giveBack(client, isUsable);
    }
  }
}

/** The connections of a pool, and how many wait for one. */
export interface PoolState {
  idle: number;
  busy: number;
  waiting: number;
}

export function poolState({ totalCount, idleCount, waitingCount }: pg.Pool): PoolState {
  return { idle: idleCount, busy: totalCount - idleCount, waiting: waitingCount };
}

function giveBack(client: pg.PoolClient, isUsable: boolean): void {
  if (isUsable) client.off('error', ignore);
  client.release(!isUsable);
}

/** The next statement fails with what happened. */
const ignore = (): void => undefined;
