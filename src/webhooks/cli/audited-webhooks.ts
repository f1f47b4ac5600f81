import { commandLine } from '../../audit/actor.js';
import type { AuditAction } from '../../audit/audit-actions.js';
import type { AuditTrail } from '../../audit/audit-trail.js';
import type { EndpointState, WebhookEndpoints } from '../webhook-endpoints.js';
import type { WebhookEventType } from '../webhook-events.js';
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

  add(keyId: string, url: string, events?: WebhookEventType[]): Promise<WebhookEventType[]> {
    return this.endpoints.add({ keyId, url, events }, async (manager, { id, before, after }) => {
      const action = actionOf(before, after);
      if (action === undefined) return;
      await this.trail.write(manager, commandLine, {
        action,
        target: id,
        before: before && entryOf(before),
        after: { key_id: keyId, url: shown(url), ...entryOf(after) },
      });
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

/** undefined: nothing has changed. */
function actionOf(before: EndpointState | null, after: EndpointState): AuditAction | undefined {
  if (before === null) return 'endpoint.create';
  if (before.disabledAt !== null) return 'endpoint.enable';
  return before.events.join() === after.events.join() ? undefined : 'endpoint.update';
}

const entryOf = ({ events, disabledAt }: EndpointState): object => ({ events, disabled_at: disabledAt });

/** Leaves out user and query, which may hold secrets: all who observe can read the audit. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
