import { type DynamicModule, Module } from '@nestjs/common';
import { BatchesModule } from '../batches/batches.module.js';
import { LineFormats } from '../batches/line-formats.js';
import type { Adapter } from '../config/adapter.js';
import { Config } from '../config/config.js';
import { OtherApis } from '../http/other-apis.js';
import { RunDeliveries } from '../webhooks/run-deliveries.js';
import { WebhookBodies } from '../webhooks/webhook-bodies.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { adapterParts } from './adapters.js';

/** Serves the adapters that the settings name. The webhooks and batches of all of them are known on every node. */
@Module({})
export class AdaptersModule {
  static register(config: Config): DynamicModule {
    const modules = servedBy(config).map((name) => adapterParts[name].module);
    return { module: AdaptersModule, imports: [BatchesModule, WebhooksModule, ...modules] };
  }

  constructor(
    config: Config,
    apis: OtherApis,
    bodies: WebhookBodies,
    formats: LineFormats,
    runs: RunDeliveries,
  ) {
    for (const root of servedBy(config)) apis.register({ ...adapterParts[root], root });
    for (const [name, { webhookBody, batchLines }] of Object.entries(adapterParts)) {
      bodies.register(name as Adapter, webhookBody);
      if (batchLines !== undefined) formats.register(name, batchLines);
    }
    // Nodes that serve no calls start requests, too.
    for (const name of config.adapters) runs.expect(adapterParts[name].runEvents ?? []);
  }
}

/** A node with the role `scheduler` serves no calls. */
const servedBy = ({ role, adapters }: Config): readonly Adapter[] =>
  role === 'scheduler' ? [] : [...new Set(adapters)];
