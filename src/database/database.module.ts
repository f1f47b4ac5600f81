import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock } from './clock.js';
import { databaseUrlToken } from './notify-channel.js';
import { createDataSource } from './data-source.js';
import { Database, statementPoolToken } from './database.js';
import { NotifyChannel } from './notify-channel.js';
import { createStatementPool } from './statement-pool.js';

const statementTimeoutMs = 5_000;
const queryTimeoutMs = statementTimeoutMs + 1_000;
/** Of those that go through TypeORM. */
const plainPoolSize = 4;

@Global()
@Module({})
export class DatabaseModule {
  /** `url` reaches a database whose migrations are done. `poolSize`: for the prepared statements. */
  static register(url: string, poolSize: number): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => ({ type: 'postgres', retryAttempts: 0, autoLoadEntities: true }),
          dataSourceFactory: async (options) =>
            createDataSource({
              url,
              poolSize: plainPoolSize,
              entities: options?.entities,
              statementTimeoutMs,
            }).initialize(),
        }),
      ],
      providers: [
        { provide: databaseUrlToken, useValue: url },
        {
          provide: statementPoolToken,
          useFactory: () => createStatementPool({ url, size: poolSize, queryTimeoutMs }),
        },
        Database,
        Clock,
        NotifyChannel,
      ],
      exports: [Database, Clock, NotifyChannel],
    };
  }
}
