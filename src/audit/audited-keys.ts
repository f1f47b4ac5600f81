import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { ApiKey } from '../auth/api-key.entity.js';
import type { KeySecret } from '../auth/key-secret.js';
import { keyTerms } from '../auth/key-view.js';
import { type KeyChanges, KeysService, type NewKey } from '../auth/keys.service.js';
import { SignInLinks } from '../auth/sign-in-links.js';
import type { Actor } from './actor.js';
import { AuditTrail } from './audit-trail.js';

/** A check that may forbid a change, and the reason for making the change. */
export interface KeyChange {
  check?: KeyCheck | undefined;
  reason?: string | undefined;
}

/**
 * Throws if a change is forbidden. `admins`: all keys that may do everything; they are locked until the change is done.
 */
export type KeyCheck = (key: ApiKey, admins: readonly ApiKey[]) => void;

/** Changes of keys. Each shares a commit with its audit entry. */
@Injectable()
export class AuditedKeys {
  constructor(
    private readonly keys: KeysService,
    private readonly links: SignInLinks,
    private readonly trail: AuditTrail,
  ) {}

  /** Makes a key. Its secret cannot be seen again. */
  create(actor: Actor, newKey: NewKey, reason?: string): Promise<{ key: ApiKey; secret: KeySecret }> {
    return this.trail.inTransaction(async (manager) => {
      const { id, secret } = await this.keys.make(newKey, manager);
      const key = await this.keys.read(id, manager);
      const note = { action: 'key.create', target: id, after: keyTerms(key!), reason } as const;
      await this.trail.write(manager, actor, note);
      return { key: key!, secret };
    });
  }

  bootstrap(actor: Actor): ReturnType<KeysService['bootstrap']> {
    return this.trail.inTransaction(async (manager) => {
      const result = await this.keys.bootstrap(manager);
      for (const id of result.made ?? []) {
        const key = await this.keys.read(id, manager);
        const note = { action: 'key.create', target: id, after: keyTerms(key!) } as const;
        await this.trail.write(manager, actor, note);
      }
      return result;
    });
  }

  /** Without changes it leaves no audit entry. undefined: there is no such key, or it is revoked. */
  update(
    actor: Actor,
    id: string,
    changes: KeyChanges,
    { check, reason }: KeyChange = {},
  ): Promise<ApiKey | undefined> {
    return this.trail.inTransaction(async (manager) => {
      const before = await this.checked(manager, id, check);
      if (before === undefined || Object.values(changes).every((value) => value === undefined)) return before;
      if (!(await this.keys.update(id, changes, manager))) return undefined;
      const key = (await this.keys.read(id, manager))!;
      const difference = differenceOf(keyTerms(before), keyTerms(key));
      await this.trail.write(manager, actor, { action: 'key.update', target: id, ...difference, reason });
      return key;
    });
  }

  /** Returns false if there is no such key or it was revoked before. */
  revoke(actor: Actor, id: string, { check, reason }: KeyChange = {}): Promise<boolean> {
    return this.trail.inTransaction(async (manager) => {
      const before = await this.checked(manager, id, check);
      if (before === undefined) return false;
      if (!(await this.keys.revoke(id, manager))) return false;
      await this.trail.write(manager, actor, {
        action: 'key.revoke',
        target: id,
        before: { name: before.name, scopes: before.scopes },
        reason,
      });
      return true;
    });
  }

  /** Returns a token that signs in once as this key. */
  makeLink(actor: Actor, id: string): Promise<string> {
    return this.trail.inTransaction(async (manager) => {
      const token = await this.links.make(id, manager);
      await this.trail.write(manager, actor, { action: 'session.link', target: id });
      return token;
    });
  }

  /** All changes lock in one order, so that no two of them deadlock. */
  private async checked(manager: EntityManager, id: string, check?: KeyCheck): Promise<ApiKey | undefined> {
    const admins = await this.keys.lockAdmins(manager);
    const key = await this.keys.read(id, manager);
    if (key === null || key.revokedAt !== null) return undefined;
    check?.(key, admins);
    return key;
  }
}

/** Returns the fields that differ, of both. */
function differenceOf(before: Record<string, unknown>, after: Record<string, unknown>) {
  const names = Object.keys(after).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const pick = (from: Record<string, unknown>): object =>
    Object.fromEntries(names.map((name) => [name, from[name]]));
  return { before: pick(before), after: pick(after) };
}
