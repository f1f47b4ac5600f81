import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { LimitsModule } from '../../limits/limits.module.js';
import { DeliveriesModule } from '../../webhooks/deliveries.module.js';
import { AnyRequestsModule } from '../requests/any-requests.module.js';
import { AnyDeliveries } from './any-deliveries.js';
import { AnyDeliveriesController } from './deliveries.controller.js';
import { Receivers } from './receivers.js';
import { ReceiversController } from './receivers.controller.js';

/** The webhooks of all keys, and their receivers. */
@Module({
  imports: [AnyRequestsModule, AuthModule, DeliveriesModule, LimitsModule],
  controllers: [AnyDeliveriesController, ReceiversController],
  providers: [AnyDeliveries, Receivers],
})
export class AnyWebhooksModule {}
