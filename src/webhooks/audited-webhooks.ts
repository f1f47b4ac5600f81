import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Actor } from '../audit/actor.js';
import type { AuditAction } from '../audit/audit-actions.js';
import { AuditTrail } from '../audit/audit-trail.js';
import type { WebhookEndpointEntity } from './entities/webhook-endpoint.entity.js';
import {
  type EndpointChange,
  type EndpointChanges,
  type EndpointState,
  WebhookEndpoints,
} from './webhook-endpoints.js';
import type { WebhookEventType } from './webhook-events.js';
import { WebhookSecrets } from './webhook-secrets.js';

interface NewEndpoint {
  keyId: string;
  url: string;
  events?: WebhookEventType[] | undefined;
}

/**
 * The changes of endpoints and secrets, for the command line, operators and the key itself. Each change shares a commit
 * with its audit entry.
 */
@Injectable()
export class AuditedWebhooks {
  constructor(
    private readonly secrets: WebhookSecrets,
    private readonly endpoints: WebhookEndpoints,
    private readonly trail: AuditTrail,
  ) {}

  async secretsOf(actor: Actor, keyId: string): Promise<string[]> {
    await this.trail.note(actor, { action: 'secret.read', target: keyId });
    return this.secrets.all(keyId);
  }

  /** Returns the new secret. */
  rotate(actor: Actor, keyId: string, reason?: string): Promise<string> {
    return this.secrets.rotate(keyId, (manager) =>
      this.trail.write(manager, actor, { action: 'secret.rotate', target: keyId, reason }),
    );
  }

  add(actor: Actor, endpoint: NewEndpoint): Promise<WebhookEndpointEntity> {
    return this.endpoints.add(endpoint, (manager, change) =>
      this.write(manager, actor, { keyId: endpoint.keyId, change, action: actionOf(change) }),
    );
  }

  /** undefined: there is no such endpoint. `keyId`: its key; undefined: any. */
  change(
    actor: Actor,
    which: { id: string; keyId?: string },
    changes: EndpointChanges,
    reason?: string,
  ): Promise<EndpointChange | undefined> {
    return this.trail.inTransaction(async (manager) => {
      const change = await this.endpoints.change(manager, which, changes);
      if (change === undefined) return undefined;
      await this.write(manager, actor, { keyId: which.keyId, change, action: actionOf(change), reason });
      return change;
    });
  }

  /** Returns false if there is none. */
  remove(actor: Actor, which: { keyId: string } & ({ url: string } | { id: string })): Promise<boolean> {
    return this.endpoints.remove(which, (manager, { id, url }) =>
      this.trail.write(manager, actor, {
        action: 'endpoint.remove',
        target: id,
        before: { key_id: which.keyId, url: shown(url) },
      }),
    );
  }

  private async write(
    manager: EntityManager,
    actor: Actor,
    {
      keyId,
      change: { id, before, after },
      action,
      reason,
    }: {
      keyId: string | undefined;
      change: EndpointChange;
      action: AuditAction | undefined;
      reason?: string | undefined;
    },
  ): Promise<void> {
    if (action === undefined) return;
    const isSameUrl = before?.url === after.url;
    await this.trail.write(manager, actor, {
      action,
      target: id,
      before: before && entryOf(before, isSameUrl),
      after: {
        ...(keyId !== undefined && { key_id: keyId, url: shown(after.url) }),
        ...entryOf(after, true),
      },
      reason,
    });
  }
}

/** undefined: nothing has changed. */
function actionOf({ before, after }: EndpointChange): AuditAction | undefined {
  if (before === null) return 'endpoint.create';
  if (before.disabledAt !== null && after.disabledAt === null) return 'endpoint.enable';
  if (before.disabledAt === null && after.disabledAt !== null) return 'endpoint.disable';
  const isSame = before.url === after.url && before.events.join() === after.events.join();
  return isSame ? undefined : 'endpoint.update';
}

const entryOf = ({ url, events, disabledAt }: EndpointState, isUrlKnown: boolean): object => ({
  ...(!isUrlKnown && { url: shown(url) }),
  events,
  disabled_at: disabledAt,
});

/** Leaves out user and query, which may hold secrets: all who observe can read the audit. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
