import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { Config } from '../config/config.js';
import type { RateLimits } from '../config/rate-limits.js';
import { LimitAskEntity, LimitShareEntity } from './entities/limit-share.entity.js';
import { Gate } from './gate.js';
import { ShareDatabase } from './share-database.js';
import { ShareStorage } from './limited.js';
import { ShareKeeper } from './share-keeper.js';
import { Shares } from './shares.js';

@Module({
  imports: [AuthModule, TypeOrmModule.forFeature([LimitAskEntity, LimitShareEntity])],
  providers: [
    Gate,
    ShareDatabase,
    Shares,
    ShareStorage,
    { provide: ShareKeeper, useFactory: ({ keeper }: Shares) => keeper, inject: [Shares] },
  ],
  exports: [Gate, ShareStorage],
})
class SharesModule {}

/** A module that imports this one can put `@Limited(…)` on its routes and call the gate. */
@Module({
  imports: [
    AuthModule,
    SharesModule,
    ThrottlerModule.forRootAsync({
      imports: [SharesModule],
      inject: [ShareStorage, Config],
      useFactory: (storage: ShareStorage, config: Config) => ({
        storage,
        // Only the gate counts the items of a batch.
        throttlers: [throttler('submit', config.rateLimitSubmit), throttler('other', config.rateLimitOther)],
      }),
    }),
  ],
  exports: [AuthModule, SharesModule],
})
export class LimitsModule {}

/** The tightest window of the service's own limits, in the throttler's form. A key may have other limits. */
function throttler(name: string, limits: RateLimits): { name: string; limit: number; ttl: number } {
  const [tightest = { limit: 0, windowMs: 0 }] = [...limits].sort(
    (one, other) => one.windowMs - other.windowMs,
  );
  return { name, limit: tightest.limit, ttl: tightest.windowMs };
}
