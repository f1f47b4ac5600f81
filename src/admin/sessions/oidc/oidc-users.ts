import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Actor } from '../../../audit/actor.js';
import { AuditTrail } from '../../../audit/audit-trail.js';
import type { ApiKey } from '../../../auth/api-key.entity.js';
import { KeysService } from '../../../auth/keys.service.js';
import type { Scope } from '../../../config/scopes.js';
import { DomainError } from '../../../errors/domain-error.js';

export interface OidcUser {
  /** Unique among all issuers. */
  subject: string;
  name: string;
  scopes: readonly Scope[];
}

/** People who sign in by OpenID Connect. Each has a key whose secret nobody knows. */
@Injectable()
export class OidcUsers {
  constructor(
    private readonly keys: KeysService,
    private readonly trail: AuditTrail,
  ) {}

  /** Returns the key of a person, with the name and the scopes that the provider gives now. */
  async keyOf(manager: EntityManager, actor: Actor, { subject, name, scopes }: OidcUser): Promise<ApiKey> {
    let key = await this.keys.findSubject(subject, manager);
    if (key === null) {
      const { id } = await this.keys.make({ name, scopes, subject }, manager);
      // If somebody signs in twice at once for the first time, one of the calls makes the key.
      key = (await this.keys.findSubject(subject, manager))!;
      if (key.id === id)
        await this.note(manager, actor, key, { action: 'key.create', after: { name, scopes, subject } });
    }
    if ((await this.keys.findValid(key.id, manager)) === null)
      throw new DomainError('sign_in_refused', `The access of ${name} was revoked here.`);
    if (key.name === name && sameScopes(key.scopes, scopes)) return key;
    const before = { name: key.name, scopes: key.scopes };
    await this.keys.update(key.id, { name, scopes }, manager);
    await this.note(manager, actor, key, { action: 'key.update', before, after: { name, scopes } });
    return Object.assign(key, { name, scopes: [...scopes] });
  }

  private note(
    manager: EntityManager,
    actor: Actor,
    { id }: ApiKey,
    note: { action: 'key.create' | 'key.update'; before?: object; after: object },
  ): Promise<void> {
    const reason = 'set by the provider at the sign-in';
    return this.trail.write(manager, { ...actor, keyId: id }, { ...note, target: id, reason });
  }
}

const sameScopes = (one: readonly Scope[], other: readonly Scope[]): boolean =>
  one.length === other.length && one.every((scope) => other.includes(scope));
