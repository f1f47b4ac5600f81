import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Registry } from 'prom-client';
import { AuthModule } from '../auth/auth.module.js';
import { FilesModule } from '../files/files.module.js';
import { OverviewCoreModule } from '../overview/overview-core.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AllowanceMetrics } from './allowance-metrics.js';
import { BatchMetrics } from './batch-metrics.js';
import { CallMetrics } from './call-metrics.js';
import { ClusterGauges } from './cluster-gauges.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { Exposition } from './exposition.js';
import { MetricsController } from './metrics.controller.js';
import { NodeGauges } from './node-gauges.js';
import { REGISTRY } from './registry.js';
import { RequestMetrics } from './request-metrics.js';
import { StorageGauges } from './storage-gauges.js';

@Module({
  imports: [AuthModule, DiscoveryModule, FilesModule, OverviewCoreModule, QueueModule, WebhooksModule],
  controllers: [MetricsController],
  providers: [
    { provide: REGISTRY, useFactory: () => new Registry() },
    RequestMetrics,
    CallMetrics,
    NodeGauges,
    AllowanceMetrics,
    BatchMetrics,
    DeliveryMetrics,
    ClusterGauges,
    StorageGauges,
    Exposition,
  ],
})
export class MetricsModule {}
