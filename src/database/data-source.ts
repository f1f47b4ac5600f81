import type pg from 'pg';
import { DataSource, type DataSourceOptions as TypeOrmOptions } from 'typeorm';
import { Queue1790000000001 } from '../../migrations/0001-queue.js';
import { KeysAndNodes1790000000002 } from '../../migrations/0002-keys-and-nodes.js';
import { Limits1790000000003 } from '../../migrations/0003-limits.js';
import { Views1790000000004 } from '../../migrations/0004-views.js';

export const migrations = [
  Queue1790000000001,
  KeysAndNodes1790000000002,
  Limits1790000000003,
  Views1790000000004,
];

export interface DataSourceOptions {
  url: string;
  poolSize: number;
  entities?: TypeOrmOptions['entities'];
  /** For each statement. Default: none, as migrations need. */
  statementTimeoutMs?: number;
}

export function createDataSource({
  url,
  poolSize,
  entities = [],
  statementTimeoutMs,
}: DataSourceOptions): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    entities,
    migrations,
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: false,
    applicationName: 'nowserving',
    extra: {
      max: poolSize,
      connectionTimeoutMillis: 3_000,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      // TypeORM sends some of its own statements without waiting for the one before.
      pipeline: true,
      ...(statementTimeoutMs !== undefined && {
        // A server that hangs does not keep its own time; its connection is then thrown away.
        query_timeout: statementTimeoutMs + 1_000,
        onConnect: (client: pg.ClientBase) => client.query(`SET statement_timeout = ${statementTimeoutMs}`),
      }),
    },
  });
}
