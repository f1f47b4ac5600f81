import { commandLine } from '../../audit/actor.js';
import type { AuditTrail } from '../../audit/audit-trail.js';
import type { WebhookEndpoints } from '../webhook-endpoints.js';
import type { WebhookSecrets } from '../webhook-secrets.js';

/** The actions of the command line on webhooks. Each change shares a commit with its audit entry. */
export class AuditedWebhooks {
  constructor(
    private readonly secrets: WebhookSecrets,
    private readonly endpoints: WebhookEndpoints,
    private readonly trail: AuditTrail,
  ) {}

  async secretsOf(keyId: string): Promise<readonly string[]> {
    await this.trail.note(commandLine, { action: 'secret.read', target: keyId });
    return this.secrets.all(keyId);
  }

  rotate(keyId: string): Promise<string> {
    return this.secrets.rotate(keyId, (manager) =>
      this.trail.write(manager, commandLine, { action: 'secret.rotate', target: keyId }),
    );
  }

  add(keyId: string, url: string): Promise<void> {
    return this.endpoints.add(keyId, url, async (manager, { id, was }) => {
      const after = { key_id: keyId, url: shown(url), disabled_at: null };
      const [action, before] =
        was === 'none'
          ? (['endpoint.create', null] as const)
          : (['endpoint.enable', { disabled_at: was }] as const);
      if (was !== null) await this.trail.write(manager, commandLine, { action, target: id, before, after });
    });
  }

  list(keyId?: string): ReturnType<WebhookEndpoints['list']> {
    return this.endpoints.list(keyId);
  }

  remove(keyId: string, url: string): Promise<boolean> {
    return this.endpoints.remove(keyId, url, (manager, id) =>
      this.trail.write(manager, commandLine, {
        action: 'endpoint.remove',
        target: id,
        before: { key_id: keyId, url: shown(url) },
      }),
    );
  }
}

/** Leaves out user and query, which may hold secrets: all who observe can read the audit. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
