import type { OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import type { Config } from '../config/config.js';
import { isRefusedRow } from '../errors/database-error.js';
import { namedQuery } from '../internals/named-query.js';
import { inOneTransaction } from '../internals/one-transaction.js';
import { DatabaseFaults } from './database-faults.js';
import type { DatabaseWatch } from './database-watch.js';
import { Pipeline, type PipelineConnection } from './pipeline.js';
import { limitIdleness } from './plain-transaction.js';
import type { Queries, Statement } from './statement.js';

// bigint columns hold sequence values and counts, all below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Runs the hot and contended statements without TypeORM, which cannot prepare statements by name. */
export class Database implements Queries, OnApplicationShutdown {
  /** Called for each prepared statement, with the milliseconds from sending it to its answer. */
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

  /** Runs a statement that is not worth preparing, such as DDL. */
  async execute(text: string): Promise<void> {
    await this.onConnection((client) => this.plain(client, text));
  }

  /** Returns a pipeline for statements that run in order without waiting for each other. */
  pipeline(): Pipeline {
    return new Pipeline(() => this.lend());
  }

  /** Runs one flat transaction on one connection. It is rolled back when `work` rejects. */
  async transaction<T>(work: (query: Queries['query']) => Promise<T>): Promise<T> {
    return this.onConnection(
      async (client) => {
        await this.plain(client, `BEGIN; ${limitIdleness}`);
        const result = await work((statement, values = []) => this.run(client, statement, values));
        await this.plain(client, 'COMMIT');
        return result;
      },
      // Closing a connection rolls back its open transaction.
      () => false,
    );
  }

  /**
   * Sends one transaction as a whole, so that the database never waits for this process between its statements. Returns
   * the rows of the last statement, which is also the one that is measured.
   */
  async atomically<Row extends object>(...statements: (readonly [Statement, unknown[]])[]): Promise<Row[]> {
    return this.onConnection(
      (client) =>
        new Promise((resolve, reject) => {
          const { onStatement } = this;
          const sentAt = onStatement && performance.now();
          const queries = statements.map(([{ name, text, preparedAs = name }, values], i) =>
            namedQuery(this.prepared ? preparedAs : undefined, text, values, (error, results) => {
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
      giveBack: (isUsable) => client.release(!isUsable),
    };
  }

  private async connect(): Promise<pg.PoolClient> {
    return this.pool.connect().catch((error: unknown) => {
      throw this.failed(error);
    });
  }

  /** Runs a statement unprepared and without parameters. */
  private async plain(client: pg.PoolClient, text: string): Promise<void> {
    await client.query(text).catch((error: unknown) => {
      throw this.failed(error);
    });
  }

  private run<Row extends object>(
    client: pg.PoolClient,
    { name, text, preparedAs = name }: Statement,
    values: unknown[],
  ): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const { onStatement } = this;
      const sentAt = onStatement && performance.now();
      const query = namedQuery(this.prepared ? preparedAs : undefined, text, values, (error, result) => {
        onStatement?.(name, performance.now() - sentAt!);
        if (error) return reject(this.failed(error));
        this.watch?.noteAnswer();
        resolve(result.rows as Row[]);
      });
      client.query(query);
    });
  }

  /** Returns the error to throw for an error of a statement or a connection. */
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
      client?.release(!isUsable);
    }
  }
}

/** The connections of a pool, and how many callers wait for one. */
export interface PoolState {
  idle: number;
  busy: number;
  waiting: number;
}

export function poolState({ totalCount, idleCount, waitingCount }: pg.Pool): PoolState {
  return { idle: idleCount, busy: totalCount - idleCount, waiting: waitingCount };
}
