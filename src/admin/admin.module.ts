import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';

/** The routes of `/v1/admin`. */
@Module({
  imports: [LimitsModule],
  controllers: [],
})
export class AdminModule {}
