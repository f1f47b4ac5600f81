import { type DynamicModule, Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { AdaptersModule } from './adapters/adapters.module.js';
import { AllowancesModule } from './allowances/allowances.module.js';
import { AdminModule } from './admin/admin.module.js';
import { ModelsReloadModule } from './admin/models/models-reload.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { BatchesHttpModule } from './batches/batches-http.module.js';
import { BatchesModule } from './batches/batches.module.js';
import { type Config, ConfigModule } from './config/config.js';
import { ConsoleModule } from './console/console.module.js';
import { DatabaseModule } from './database/database.module.js';
import type { OpenDatabase } from './database/open-database.js';
import { DiscoveryModule } from './discovery/discovery.module.js';
import { FilesHttpModule } from './files/files-http.module.js';
import { FilesModule } from './files/files.module.js';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import { JsonModule } from './json/json.module.js';
import { type Log, LoggingModule } from './http/logging.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import type { FileModel } from './models/model.js';
import { ModelsFile } from './models/models-file.js';
import { ModelsModule } from './models/models.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { QueueModule } from './queue/queue.module.js';
import { RequestsModule } from './requests/requests.module.js';
import { runnerKinds, RunnersModule } from './runners/runners.module.js';
import { StreamModule } from './stream/stream.module.js';
import { TracingModule } from './tracing/tracing.module.js';
import { DeliveriesModule } from './webhooks/deliveries.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
import { WorkersModule } from './workers/workers.module.js';

@Module({})
export class AppModule {
  static register(
    config: Config,
    database: OpenDatabase,
    models: FileModel[],
    file = modelsFileOf(config),
    log?: Log,
  ): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.register(config),
        LoggingModule.register(config, log),
        AllowancesModule,
        TracingModule,
        DatabaseModule.register(database, config.databasePoolSize),
        EventEmitterModule.forRoot({ maxListeners: 50 }),
        ModelsModule.register(models, file),
        JsonModule,
        AuditModule,
        AuthModule,
        QueueModule,
        FilesModule,
        RunnersModule,
        WebhooksModule,
        OperationsModule,
        BatchesModule,
        ModelsReloadModule,
        // Express compares a path with one route after another, so the routes with the most calls come first.
        // RequestsModule comes after all modules with routes below its own, because its route matches every POST.
        ...(config.role === 'scheduler'
          ? []
          : [
              WorkersModule,
              BatchesHttpModule,
              DeliveriesModule,
              RequestsModule,
              StreamModule,
              AdminModule,
              DiscoveryModule,
              ConsoleModule,
              FilesHttpModule,
            ]),
        AdaptersModule.register(config),
        HealthModule,
        MetricsModule,
        HttpModule,
      ],
    };
  }
}

export const modelsFileOf = ({ modelsFile, environment }: Config): ModelsFile =>
  new ModelsFile(modelsFile, environment, runnerKinds);
