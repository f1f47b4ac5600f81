import pg from 'pg';
import { DataSource, type DataSourceOptions, DefaultNamingStrategy } from 'typeorm';
import { Requests1790000000100 } from '../../migrations/0001-requests.js';
import { Queue1790000000102 } from '../../migrations/0002-queue.js';
import { Keys1790000000103 } from '../../migrations/0003-keys.js';
import { Models1790000000104 } from '../../migrations/0004-models.js';
import { NodesAndWorkers1790000000105 } from '../../migrations/0005-nodes-and-workers.js';
import { Limits1790000000106 } from '../../migrations/0006-limits.js';
import { Webhooks1790000000107 } from '../../migrations/0007-webhooks.js';
import { Files1790000000108 } from '../../migrations/0008-files.js';
import { Output1790000000109 } from '../../migrations/0009-output.js';
import { Operators1790000000110 } from '../../migrations/0010-operators.js';
import { Views1790000000111 } from '../../migrations/0011-views.js';
import { StorableText1790000000112 } from '../../migrations/0012-storable-text.js';
import { StoppingNodes1790000000114 } from '../../migrations/0014-stopping-nodes.js';
import { StoredFiles1790000000115 } from '../../migrations/0015-stored-files.js';
import { Allowances1790000000116 } from '../../migrations/0016-allowances.js';
import { WebhookEvents1790000000117 } from '../../migrations/0017-webhook-events.js';
import { RecentRequests1790000000119 } from '../../migrations/0019-recent-requests.js';
import { FollowedRuns1790000000120 } from '../../migrations/0020-followed-runs.js';
import { Usage1790000000121 } from '../../migrations/0021-usage.js';
import { Suspects1790000000122 } from '../../migrations/0022-suspects.js';
import { Groups1790000000123 } from '../../migrations/0023-groups.js';
import { Reserve1790000000124 } from '../../migrations/0024-reserve.js';
import { Adapters1790000000126 } from '../../migrations/0026-adapters.js';
import { ReadOutputs1790000000127 } from '../../migrations/0027-read-outputs.js';
import { Batches1790000000128 } from '../../migrations/0028-batches.js';
import { EventsOfRuns1790000000131 } from '../../migrations/0031-events-of-runs.js';
import { Restores1790000000132 } from '../../migrations/0032-restores.js';
import { ErasedLines1790000000133 } from '../../migrations/0033-erased-lines.js';
import { DatabaseFaults } from './database-faults.js';
import { connectionOptions, outliveSessions } from './statement-pool.js';

/** The migrations are listed here, not read from the folder, because a build's folder may contain removed ones. */
export const migrations = [
  Requests1790000000100,
  Queue1790000000102,
  Keys1790000000103,
  Models1790000000104,
  NodesAndWorkers1790000000105,
  Limits1790000000106,
  Webhooks1790000000107,
  Files1790000000108,
  Output1790000000109,
  Operators1790000000110,
  Views1790000000111,
  StorableText1790000000112,
  StoppingNodes1790000000114,
  StoredFiles1790000000115,
  Allowances1790000000116,
  WebhookEvents1790000000117,
  RecentRequests1790000000119,
  FollowedRuns1790000000120,
  Usage1790000000121,
  Suspects1790000000122,
  Groups1790000000123,
  Reserve1790000000124,
  Adapters1790000000126,
  ReadOutputs1790000000127,
  Batches1790000000128,
  EventsOfRuns1790000000131,
  Restores1790000000132,
  ErasedLines1790000000133,
];

export interface DataSourceSettings {
  /** `DatabaseSessions` makes it. */
  url: string;
  poolSize: number;
  entities?: DataSourceOptions['entities'];
  /** After this long, a call stops waiting for a hung server. Default: no limit, because migrations need that. */
  queryTimeoutMs?: number;
  /** Records the errors of connections. */
  faults?: DatabaseFaults;
}

export const createDataSource = (settings: DataSourceSettings): DataSource =>
  new DataSource(dataSourceOptions(settings));

export function dataSourceOptions({
  url,
  poolSize,
  entities = [],
  queryTimeoutMs,
  faults = new DatabaseFaults(),
}: DataSourceSettings): Extract<DataSourceOptions, { type: 'postgres' }> {
  return {
    type: 'postgres',
    driver: { ...pg, Pool: poolNoting(faults) },
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
      // The client then discards the connection.
      ...(queryTimeoutMs !== undefined && { query_timeout: queryTimeoutMs }),
    },
  };
}

type Connected = (error: Error | undefined, client: pg.PoolClient, release: () => void) => void;

/**
 * A pool that maps connection errors to the service's own. TypeORM marks a failed statement as such, but passes
 * connection errors on unchanged.
 */
function poolNoting(faults: DatabaseFaults): typeof pg.Pool {
  return class extends pg.Pool {
    constructor(options?: pg.PoolConfig) {
      super(options);
      outliveSessions(this);
    }

    override connect(): Promise<pg.PoolClient>;
    override connect(done: Connected): void;
    override connect(done?: Connected): Promise<pg.PoolClient> | void {
      if (done === undefined)
        return super.connect().catch((error: unknown) => {
          throw faults.note(error);
        });
      super.connect((error, client, release) =>
        done(error && (faults.note(error) as Error), client as pg.PoolClient, release),
      );
    }
  };
}

/** `requestId` becomes `request_id`, and primary keys get the names that PostgreSQL gives them. */
class NamingStrategy extends DefaultNamingStrategy {
  override columnName(property: string, given: string | undefined): string {
    return given ?? property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }

  override primaryKeyName(table: Parameters<DefaultNamingStrategy['primaryKeyName']>[0]): string {
    return `${this.getTableName(table)}_pkey`;
  }
}
