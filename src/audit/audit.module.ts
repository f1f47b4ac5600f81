import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { AuditList } from './audit-list.js';
import { AuditTrail } from './audit-trail.js';
import { AuditedKeys } from './audited-keys.js';
import { AuditPruner } from './duties/audit-pruner.js';
import { AuditEntryEntity } from './entities/audit-entry.entity.js';
import { Refusals } from './refusals.js';
import { RefusedCalls } from './refused-calls.js';

/** Global, because every module whose calls change something writes to it. */
@Global()
@Module({
  imports: [AuthModule, TypeOrmModule.forFeature([AuditEntryEntity])],
  providers: [AuditList, AuditPruner, AuditTrail, AuditedKeys, Refusals, RefusedCalls],
  exports: [AuditList, AuditTrail, AuditedKeys, Refusals],
})
export class AuditModule {}
