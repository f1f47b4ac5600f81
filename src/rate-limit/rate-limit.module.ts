import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { AuthModule } from '../auth/auth.module.js';
import { UsagePruner } from './duties/usage-pruner.js';
import { CallCounter } from './call-counter.js';
import { RateLimitStorage } from './rate-limit-storage.js';

@Module({
  providers: [RateLimitStorage, CallCounter, UsagePruner],
  exports: [RateLimitStorage, CallCounter, UsagePruner],
})
class UsageModule {}

/** Whoever imports this module can put `@Limited(…)` on its routes. */
@Module({
  imports: [
    AuthModule,
    UsageModule,
    ThrottlerModule.forRootAsync({
      imports: [UsageModule],
      inject: [RateLimitStorage],
      useFactory: (storage: RateLimitStorage) => ({ throttlers: [], storage }),
    }),
  ],
  exports: [AuthModule, UsageModule],
})
export class RateLimitModule {}
