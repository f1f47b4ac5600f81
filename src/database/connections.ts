import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { poolOf } from '../internals/plain-pool.js';
import { Database, poolState, type PoolState } from './database.js';
import { LimitsDatabase } from './limits-database.js';
import { ObservingDatabase } from './observing-database.js';

/** The connection pools of this process, by name. */
@Injectable()
export class Connections {
  constructor(
    private readonly statements: Database,
    private readonly limits: LimitsDatabase,
    private readonly observing: ObservingDatabase,
    private readonly dataSource: DataSource,
  ) {}

  pools(): Record<string, PoolState> {
    return {
      statements: this.statements.connections,
      limits: this.limits.connections,
      plain: poolState(poolOf(this.dataSource)),
      observing: this.observing.connections,
    };
  }
}
