import type pg from 'pg';
import { DataSource } from 'typeorm';
import { Queue1780000000001 } from '../../migrations/0001-queue.js';
import { ApiKeys1780000000002 } from '../../migrations/0002-api-keys.js';
import { RateLimits1780000000003 } from '../../migrations/0003-rate-limits.js';
import { Nodes1780000000004 } from '../../migrations/0004-nodes.js';
import { Views1780000000005 } from '../../migrations/0005-views.js';
import { QuickAdmission1780000000006 } from '../../migrations/0006-quick-admission.js';
import { HistoryVacuum1780000000007 } from '../../migrations/0007-history-vacuum.js';
import { RoomForChanges1780000000008 } from '../../migrations/0008-room-for-changes.js';
import { DurableAdmission1780000000009 } from '../../migrations/0009-durable-admission.js';
import { LoneAdmission1780000000010 } from '../../migrations/0010-lone-admission.js';
import { AdmissionWithUsage1780000000011 } from '../../migrations/0011-admission-with-usage.js';
import { UsageVacuum1780000000012 } from '../../migrations/0012-usage-vacuum.js';

export const migrations = [
  Queue1780000000001,
  ApiKeys1780000000002,
  RateLimits1780000000003,
  Nodes1780000000004,
  Views1780000000005,
  QuickAdmission1780000000006,
  HistoryVacuum1780000000007,
  RoomForChanges1780000000008,
  DurableAdmission1780000000009,
  LoneAdmission1780000000010,
  AdmissionWithUsage1780000000011,
  UsageVacuum1780000000012,
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
  entities?: (new () => object)[];
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
