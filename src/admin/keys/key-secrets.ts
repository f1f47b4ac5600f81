import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { KeysService } from '../../auth/keys.service.js';
import { WebhookSecrets } from '../../webhooks/webhook-secrets.js';
import type { WebhookSecretsDto } from './keys.dto.js';
import { unknownKey } from './keys.js';

/** The secrets that sign the webhooks of a key, as operators read and rotate them. */
@Injectable()
export class KeySecrets {
  constructor(
    private readonly keys: KeysService,
    private readonly secrets: WebhookSecrets,
    private readonly trail: AuditTrail,
  ) {}

  async read(actor: Actor, id: string): Promise<WebhookSecretsDto> {
    await this.assertKnown(id);
    await this.trail.note(actor, { action: 'secret.read', target: id });
    return { secrets: await this.secrets.all(id) };
  }

  async rotate(actor: Actor, id: string, reason: string | undefined): Promise<WebhookSecretsDto> {
    await this.assertKnown(id);
    await this.secrets.rotate(id, (manager) =>
      this.trail.write(manager, actor, { action: 'secret.rotate', target: id, reason }),
    );
    return { secrets: await this.secrets.all(id) };
  }

  private async assertKnown(id: string): Promise<void> {
    if ((await this.keys.find(id)) === null) throw unknownKey(id);
  }
}
