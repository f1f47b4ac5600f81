import { DataSource } from 'typeorm';
import { Queue1780000000001 } from '../../migrations/0001-queue.js';
import { ApiKeys1780000000002 } from '../../migrations/0002-api-keys.js';

export const migrations = [Queue1780000000001, ApiKeys1780000000002];

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
