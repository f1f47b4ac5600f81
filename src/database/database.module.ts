import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock } from './clock.js';
import { databaseUrlToken } from './notify-channel.js';
import { createDataSource } from './data-source.js';
import { Database } from './database.js';
import { NotifyChannel } from './notify-channel.js';

const queryTimeoutMs = 6_000;

@Global()
@Module({})
export class DatabaseModule {
  /** `url` reaches a database whose migrations are done. */
  static register(url: string, poolSize: number): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => ({ type: 'postgres', retryAttempts: 0, autoLoadEntities: true }),
          dataSourceFactory: async (options) =>
            createDataSource({ url, poolSize, entities: options?.entities, queryTimeoutMs }).initialize(),
        }),
      ],
      providers: [{ provide: databaseUrlToken, useValue: url }, Database, Clock, NotifyChannel],
      exports: [Database, Clock, NotifyChannel],
    };
  }
}
