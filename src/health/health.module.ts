import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { DatabaseDisk } from './database-disk.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

@Module({ imports: [FilesModule], controllers: [HealthController], providers: [DatabaseDisk, Readiness] })
export class HealthModule {}
