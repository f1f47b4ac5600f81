import { Injectable, ServiceUnavailableException } from '@nestjs/common';
import { HealthCheckService, HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { DomainError } from '../errors/domain-error.js';
import { Draining } from '../http/draining.js';
import { DatabaseProbe } from './database-probe.js';
import type { ReadinessDto } from './health.dto.js';

/** Whether requests can be sent here: the database is there, its schema is ours, and we are not leaving. */
@Injectable()
export class Readiness {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly database: DatabaseProbe,
    private readonly draining: Draining,
  ) {}

  async check(): Promise<ReadinessDto> {
    const { reached, migrated } = await this.database.state();
    const checks = {
      ...this.indicate('database', reached),
      ...this.indicate('migrations', migrated),
      ...this.indicate('accepting', !this.draining.isStarted),
    };
    try {
      await this.health.check([() => checks]);
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      const down = Object.entries(checks).filter(([, { status }]) => status !== 'up');
      const names = down.map(([name]) => name).join(', ');
      throw new DomainError('unavailable', `Not ready: ${names}.`, { extensions: { checks } });
    }
    return { status: 'ok', checks };
  }

  private indicate<Name extends string>(name: Name, up: boolean): HealthIndicatorResult<Name> {
    const indicator = this.indicators.check(name);
    return up ? indicator.up() : indicator.down();
  }
}
