import { Module } from '@nestjs/common';
import { AnyRequestsModule } from './requests/any-requests.module.js';
import { LimitsModule } from '../limits/limits.module.js';

/** The routes of `/v1/admin`. */
@Module({
  imports: [AnyRequestsModule, LimitsModule],
  controllers: [],
})
export class AdminModule {}
