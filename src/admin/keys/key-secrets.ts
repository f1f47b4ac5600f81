import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { KeysService } from '../../auth/keys.service.js';
import { AuditedWebhooks } from '../../webhooks/audited-webhooks.js';
import type { WebhookSecretsDto } from '../../webhooks/dto/endpoints.dto.js';
import { WebhookSecrets } from '../../webhooks/webhook-secrets.js';
import { unknownKey } from './keys.js';

/** The secrets that sign the webhooks of a key, as operators read and rotate them. */
@Injectable()
export class KeySecrets {
  constructor(
    private readonly keys: KeysService,
    private readonly secrets: WebhookSecrets,
    private readonly webhooks: AuditedWebhooks,
  ) {}

  async read(actor: Actor, id: string): Promise<WebhookSecretsDto> {
    await this.assertKnown(id);
    return { secrets: await this.webhooks.secretsOf(actor, id) };
  }

  async rotate(actor: Actor, id: string, reason: string | undefined): Promise<WebhookSecretsDto> {
    await this.assertKnown(id);
    await this.webhooks.rotate(actor, id, reason);
    return { secrets: await this.secrets.all(id) };
  }

  private async assertKnown(id: string): Promise<void> {
    if ((await this.keys.find(id)) === null) throw unknownKey(id);
  }
}
