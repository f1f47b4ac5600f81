import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { Config } from '../config/config.js';
import { databaseError } from './database-error.js';

// bigint columns are sequence values and counts: all below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** One hot statement: it is prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs the queue's own statements on TypeORM's pool, past TypeORM, which cannot prepare by name. */
@Injectable()
export class Database {
  private readonly prepared: boolean;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    config: Config,
  ) {
    this.prepared = config.databasePreparedStatements;
  }

  private get pool(): pg.Pool {
    return (this.dataSource.driver as PostgresDriver).master as pg.Pool;
  }

  async query<Row extends object>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    return this.onConnection(async (client) => {
      const { rows } = await client.query<Row>(this.toQuery(statement, values));
      return rows;
    });
  }

  /** A statement that is not worth preparing, such as DDL. */
  async execute(text: string): Promise<void> {
    await this.onConnection((client) => client.query(text));
  }

  /** One flat transaction on one connection; rolled back when `work` rejects. */
  async transaction<T>(work: (query: TransactionQuery) => Promise<T>): Promise<T> {
    return this.onConnection(
      async (client) => {
        // A process that freezes in the middle of a transaction must not hold its locks against the others.
        await client.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'`);
        const result = await work(
          async <Row extends object>(statement: Statement, values: unknown[] = []) => {
            const { rows } = await client.query<Row>(this.toQuery(statement, values));
            return rows;
          },
        );
        await client.query('COMMIT');
        return result;
      },
      // Closing a connection rolls back what was begun on it.
      () => false,
    );
  }

  private toQuery({ name, text }: Statement, values: unknown[]): pg.QueryConfig {
    return this.prepared ? { name, text, values } : { text, values };
  }

  private async onConnection<T>(
    work: (client: pg.PoolClient) => Promise<T>,
    isUsableAfter: (error: unknown) => boolean = isRefusedRow,
  ): Promise<T> {
    let client: pg.PoolClient | undefined;
    let isUsable = true;
    try {
      client = await this.pool.connect();
      // The pool listens only to its idle clients: an end between two statements would be nobody's, and fatal.
      client.on('error', ignore);
      return await work(client);
    } catch (error) {
      isUsable = isUsableAfter(error);
      throw databaseError(error);
    } finally {
      if (isUsable) client?.off('error', ignore);
      client?.release(!isUsable);
    }
  }
}

/** The next statement fails with what happened. */
const ignore = (): void => undefined;

export type TransactionQuery = <Row extends object>(
  statement: Statement,
  values?: unknown[],
) => Promise<Row[]>;

/**
 * The server refused what a statement wanted to store (bad data, a constraint, no room), and the connection is as good
 * as before; the pool's own `query` would close it, so with a full disk every statement would cost a connection. After
 * any other error a new one may help: read-only after a failover, a plan or a prepared statement that is stale.
 * Source: PostgreSQL's appendix A.
 */
function isRefusedRow(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && error.severity === 'ERROR' && /^(22|23|53)/.test(error.code ?? '')
  );
}
