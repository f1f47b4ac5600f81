import type pg from 'pg';
import { DataSource, type DataSourceOptions, DefaultNamingStrategy } from 'typeorm';
import { Queue1790000000011 } from '../../migrations/0001-queue.js';
import { KeysAndNodes1790000000012 } from '../../migrations/0002-keys-and-nodes.js';
import { Limits1790000000013 } from '../../migrations/0003-limits.js';
import { Views1790000000014 } from '../../migrations/0004-views.js';
import { Options1790000000015 } from '../../migrations/0005-options.js';
import { Circuits1790000000016 } from '../../migrations/0006-circuits.js';
import { WebhookDeliveries1790000000017 } from '../../migrations/0007-webhooks.js';
import { Lists1790000000018 } from '../../migrations/0008-lists.js';
import { Adapters1790000000019 } from '../../migrations/0009-adapters.js';
import { FairOrder1790000000020 } from '../../migrations/0010-fair-order.js';
import { RunTimes1790000000021 } from '../../migrations/0011-run-times.js';
import { KeyBounds1790000000022 } from '../../migrations/0012-key-bounds.js';
import { Admin1790000000023 } from '../../migrations/0013-admin.js';
import { Control1790000000024 } from '../../migrations/0014-control.js';
import { Operations1790000000025 } from '../../migrations/0015-operations.js';
import { Activity1790000000026 } from '../../migrations/0016-activity.js';
import { Traces1790000000027 } from '../../migrations/0017-traces.js';
import { SignIn1790000000028 } from '../../migrations/0018-sign-in.js';
import { KeyChanges1790000000029 } from '../../migrations/0019-key-changes.js';
import { Receivers1790000000030 } from '../../migrations/0020-receivers.js';
import { Workers1790000000031 } from '../../migrations/0021-workers.js';
import { OutputStream1790000000032 } from '../../migrations/0022-output-stream.js';
import { Addresses1790000000034 } from '../../migrations/0024-addresses.js';
import { Collecting1790000000035 } from '../../migrations/0025-collecting.js';
import { Unscheduled1790000000036 } from '../../migrations/0026-unscheduled.js';
import { Files1790000000033 } from '../../migrations/0023-files.js';
import { KeyUse1790000000037 } from '../../migrations/0027-key-use.js';
import { SinceWhen1790000000038 } from '../../migrations/0028-since-when.js';
import { connectionOptions } from './statement-pool.js';

/** Listed, not found in the folder: that of a build may hold what was removed since. */
export const migrations = [
  Queue1790000000011,
  KeysAndNodes1790000000012,
  Limits1790000000013,
  Views1790000000014,
  Options1790000000015,
  Circuits1790000000016,
  WebhookDeliveries1790000000017,
  Lists1790000000018,
  Adapters1790000000019,
  FairOrder1790000000020,
  RunTimes1790000000021,
  KeyBounds1790000000022,
  Admin1790000000023,
  Control1790000000024,
  Operations1790000000025,
  Activity1790000000026,
  Traces1790000000027,
  SignIn1790000000028,
  KeyChanges1790000000029,
  Receivers1790000000030,
  Workers1790000000031,
  OutputStream1790000000032,
  Files1790000000033,
  Addresses1790000000034,
  Collecting1790000000035,
  Unscheduled1790000000036,
  KeyUse1790000000037,
  SinceWhen1790000000038,
];

export interface DataSourceSettings {
  url: string;
  poolSize: number;
  entities?: DataSourceOptions['entities'];
  /** For each statement. Default: none, as migrations need. */
  statementTimeoutMs?: number;
}

export const createDataSource = (settings: DataSourceSettings): DataSource =>
  new DataSource(dataSourceOptions(settings));

export function dataSourceOptions({
  url,
  poolSize,
  entities = [],
  statementTimeoutMs,
}: DataSourceSettings): Extract<DataSourceOptions, { type: 'postgres' }> {
  return {
    type: 'postgres',
    url,
    entities,
    migrations,
    migrationsTransactionMode: 'each',
    namingStrategy: new NamingStrategy(),
    synchronize: false,
    logging: false,
    applicationName: 'nowserving',
    extra: {
      ...connectionOptions,
      max: poolSize,
      ...(statementTimeoutMs !== undefined && {
        // A server that hangs does not keep its own time; its connection is then thrown away.
        query_timeout: statementTimeoutMs + 1_000,
        // To compile a statement for its partitions takes longer than to run it.
        onConnect: (client: pg.ClientBase) =>
          client.query(`SET statement_timeout = ${statementTimeoutMs}; SET jit = off`),
      }),
    },
  };
}

/** `requestId` is `request_id`, and a primary key has the name that PostgreSQL gives it. */
class NamingStrategy extends DefaultNamingStrategy {
  override columnName(property: string, given: string | undefined): string {
    return given ?? property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }

  override primaryKeyName(table: Parameters<DefaultNamingStrategy['primaryKeyName']>[0]): string {
    return `${this.getTableName(table)}_pkey`;
  }
}
