import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock } from './clock.js';
import { createDataSource } from './data-source.js';
import { Database } from './database.js';

@Global()
@Module({})
export class DatabaseModule {
  /** `url` reaches a database whose migrations are done. */
  static register(url: string, poolSize: number, entities: (new () => object)[]): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRootAsync({
          useFactory: () => ({ type: 'postgres', retryAttempts: 0 }),
          dataSourceFactory: async () => createDataSource({ url, poolSize, entities }).initialize(),
        }),
      ],
      providers: [Database, Clock],
      exports: [Database, Clock],
    };
  }
}
