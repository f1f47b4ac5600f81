import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config.js';
import { Clock, clock } from './clock.js';
import { dataSourceOptions } from './data-source.js';
import { DatabaseFaults } from './database-faults.js';
import { DatabaseWatch } from './database-watch.js';
import { Database } from './database.js';
import { Connections } from './connections.js';
import { LimitsDatabase, limitsPoolSize } from './limits-database.js';
import { NotifyChannel } from './notify-channel.js';
import { createObservingPool, ObservingDatabase } from './observing-database.js';
import type { OpenDatabase } from './open-database.js';
import { createStatementPool } from './statement-pool.js';

const statementTimeoutMs = 5_000;
/** A hung server does not enforce its own timeout, and a pooler's sessions have none. */
const queryTimeoutMs = statementTimeoutMs + 1_000;
/** Connections for statements that go through TypeORM. */
const plainPoolSize = 4;

@Global()
@Module({})
export class DatabaseModule {
  /** `poolSize`: the connections for the prepared statements. */
  static register({ pooled, direct }: OpenDatabase, poolSize: number): DynamicModule {
    const faults = new DatabaseFaults();
    return {
      module: DatabaseModule,
      imports: [
        TypeOrmModule.forRoot({
          ...dataSourceOptions({
            url: pooled.usual(statementTimeoutMs),
            poolSize: plainPoolSize,
            queryTimeoutMs,
            faults,
          }),
          retryAttempts: 0,
          autoLoadEntities: true,
        }),
      ],
      providers: [
        { provide: Clock, useValue: clock },
        Connections,
        { provide: DatabaseFaults, useValue: faults },
        DatabaseWatch,
        {
          provide: Database,
          inject: [Config, DatabaseWatch],
          useFactory: (config: Config, watch: DatabaseWatch) =>
            new Database(
              createStatementPool({ sessions: pooled, size: poolSize, queryTimeoutMs }),
              config,
              faults,
              watch,
            ),
        },
        {
          provide: LimitsDatabase,
          inject: [Config],
          useFactory: (config: Config) =>
            new LimitsDatabase(
              createStatementPool({ sessions: pooled, size: limitsPoolSize, queryTimeoutMs }),
              config,
              faults,
            ),
        },
        {
          provide: ObservingDatabase,
          inject: [Config],
          useFactory: (config: Config) => new ObservingDatabase(createObservingPool(pooled), config, faults),
        },
        {
          provide: NotifyChannel,
          useFactory: () => new NotifyChannel(direct.usual()),
        },
      ],
      exports: [
        Connections,
        Database,
        DatabaseFaults,
        DatabaseWatch,
        LimitsDatabase,
        ObservingDatabase,
        Clock,
        NotifyChannel,
      ],
    };
  }
}
