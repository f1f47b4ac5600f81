import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LimitsModule } from '../limits/limits.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { OperatorDeliveries } from './operator-deliveries.js';
import { Deliveries } from './deliveries.js';
import { DeliveriesController } from './deliveries.controller.js';
import { EndpointCalls } from './endpoint-calls.js';
import { EndpointsController } from './endpoints.controller.js';
import { WebhookDeliveryEntity } from './entities/webhook-delivery.entity.js';
import { WebhooksModule } from './webhooks.module.js';

/** The calls about deliveries and endpoints, on nodes that serve calls. */
@Module({
  imports: [
    LimitsModule,
    QueueModule,
    RequestsModule,
    WebhooksModule,
    TypeOrmModule.forFeature([WebhookDeliveryEntity]),
  ],
  controllers: [DeliveriesController, EndpointsController],
  providers: [OperatorDeliveries, Deliveries, EndpointCalls],
  exports: [OperatorDeliveries],
})
export class DeliveriesModule {}
