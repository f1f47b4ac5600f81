import { DataSource } from 'typeorm';
import { Queue1780000000001 } from '../../migrations/0001-queue.js';
import { ApiKeys1780000000002 } from '../../migrations/0002-api-keys.js';
import { RateLimits1780000000003 } from '../../migrations/0003-rate-limits.js';

export const migrations = [Queue1780000000001, ApiKeys1780000000002, RateLimits1780000000003];

export interface DataSourceOptions {
  url: string;
  poolSize: number;
  entities?: (new () => object)[];
}

export function createDataSource({ url, poolSize, entities = [] }: DataSourceOptions): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    entities,
    migrations,
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: false,
    applicationName: 'nowserving',
    extra: { max: poolSize, connectionTimeoutMillis: 5_000, keepAlive: true },
  });
}
