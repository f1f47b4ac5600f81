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

/**
 * Every statement here looks rows up by key, in the order of the key. A plan made while a table was empty would
 * scan or sort it for as long as the connection lives, so the other ways are closed from the start.
 */
const plannerSettings = `SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
  SET enable_hashjoin = off; SET enable_mergejoin = off;
  SET jit = off; SET plan_cache_mode = force_generic_plan`;

export interface DataSourceOptions {
  url: string;
  poolSize: number;
  entities?: TypeOrmOptions['entities'];
  /** A hung server holds a call no longer; its connection is then thrown away. Default: no limit. */
  queryTimeoutMs?: number;
}

export function createDataSource({
  url,
  poolSize,
  entities = [],
  queryTimeoutMs,
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
      // A new one costs the first callers after a quiet while 15 ms; pg would close it after 10 s.
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      query_timeout: queryTimeoutMs,
      // A statement is sent when it is handed over, also behind others: see `Pipeline`.
      pipeline: true,
      onConnect: (client: pg.ClientBase) => client.query(plannerSettings),
    },
  });
}
