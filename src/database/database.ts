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
    try {
      const { rows } = await this.pool.query<Row>(
        this.prepared ? { ...statement, values } : { text: statement.text, values },
      );
      return rows;
    } catch (error) {
      throw databaseError(error);
    }
  }

  /** A statement that is not worth preparing, such as DDL. */
  async execute(text: string): Promise<void> {
    try {
      await this.pool.query(text);
    } catch (error) {
      throw databaseError(error);
    }
  }

  /** One flat transaction on one connection; rolled back when `work` rejects. */
  async transaction<T>(work: (query: TransactionQuery) => Promise<T>): Promise<T> {
    let client: pg.PoolClient | undefined;
    let broken = true;
    try {
      client = await this.pool.connect();
      // The pool listens only to its idle clients: an end between two statements would be nobody's, and fatal.
      client.on('error', ignore);
      // A process that freezes in the middle of a transaction must not hold its locks against the others.
      await client.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'`);
      const result = await work(async <Row extends object>(statement: Statement, values: unknown[] = []) => {
        const { rows } = await client!.query<Row>(
          this.prepared ? { ...statement, values } : { text: statement.text, values },
        );
        return rows;
      });
      await client.query('COMMIT');
      broken = false;
      return result;
    } catch (error) {
      throw databaseError(error);
    } finally {
      if (!broken) client?.off('error', ignore);
      // A broken connection is closed, which rolls back.
      client?.release(broken);
    }
  }
}

/** The next statement fails with what happened. */
const ignore = (): void => undefined;

export type TransactionQuery = <Row extends object>(
  statement: Statement,
  values?: unknown[],
) => Promise<Row[]>;
