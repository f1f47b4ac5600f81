import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AddressesModule } from '../addresses/addresses.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { registerHook } from '../queue/transition-hooks.js';
import { AuditedWebhooks } from './audited-webhooks.js';
import { BatchDeliveries } from './batch-deliveries.js';
import { DeliveryDelays } from './delivery-delays.js';
import { WebhookBodies } from './webhook-bodies.js';
import { WebhookClient } from './webhook-client.js';
import { DeliveryPruner } from './duties/delivery-pruner.js';
import { Sender } from './duties/sender.js';
import { ReceiverActivityEntity } from './entities/receiver-activity.entity.js';
import { WebhookEndpointEntity } from './entities/webhook-endpoint.entity.js';
import { WebhookSecretEntity } from './entities/webhook-secret.entity.js';
import { outbox } from './outbox.js';
import { RunDeliveries } from './run-deliveries.js';
import { SendingTerms } from './sending-terms.js';
import { WebhookEndpoints } from './webhook-endpoints.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** Loaded on every node, whatever its role, because each completes requests and each delivers. */
@Module({
  imports: [
    AddressesModule,
    QueueModule,
    TypeOrmModule.forFeature([ReceiverActivityEntity, WebhookEndpointEntity, WebhookSecretEntity]),
  ],
  providers: [
    AuditedWebhooks,
    BatchDeliveries,
    DeliveryDelays,
    WebhookBodies,
    WebhookClient,
    DeliveryPruner,
    RunDeliveries,
    Sender,
    SendingTerms,
    WebhookEndpoints,
    WebhookSecrets,
  ],
  exports: [
    AuditedWebhooks,
    BatchDeliveries,
    DeliveryDelays,
    RunDeliveries,
    Sender,
    WebhookBodies,
    WebhookEndpoints,
    WebhookSecrets,
  ],
})
export class WebhooksModule implements OnModuleInit {
  onModuleInit(): void {
    for (const hook of outbox) registerHook(hook);
  }
}
