import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditTrail } from './audit-trail.js';
import { AuditEntryEntity } from './entities/audit-entry.entity.js';

/** Global, as every room whose calls change something writes to it. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntryEntity])],
  providers: [AuditTrail],
  exports: [AuditTrail],
})
export class AuditModule {}
