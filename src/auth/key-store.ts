import { IsNull, type Repository } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { ApiKey } from './api-key.entity.js';
import { type Scope, scopes } from './caller.js';
import type { KeySecret } from './key-secret.js';

export interface NewKey {
  name: string;
  /** All of them if left out. */
  scopes?: readonly Scope[];
  /** All models if left out. */
  models?: readonly string[];
  /** As in RATE_LIMIT_SUBMIT; the service's own limits if left out. */
  rateLimitSubmit?: string;
  rateLimitOther?: string;
  expires?: { inMs: number } | { at: Date };
}

/** The rows of `api_key`. Times are the database's. */
export class KeyStore {
  constructor(private readonly rows: Repository<ApiKey>) {}

  /** False if the secret is known already: then nothing is changed, so a revoked key stays revoked. */
  async add(secret: KeySecret, key: NewKey): Promise<boolean> {
    const inserted = await this.rows
      .createQueryBuilder()
      .insert()
      .values({
        id: uuidv7(),
        name: key.name,
        prefix: secret.prefix(),
        hash: secret.hash(),
        scopes: [...new Set(key.scopes ?? scopes)],
        models: key.models === undefined ? null : [...new Set(key.models)],
        rateLimitSubmit: key.rateLimitSubmit ?? null,
        rateLimitOther: key.rateLimitOther ?? null,
        expiresAt: expiry(key.expires),
      })
      .orIgnore()
      .returning('id')
      .execute();
    return (inserted.raw as unknown[]).length === 1;
  }

  /** Oldest first, the revoked ones too. */
  list(): Promise<ApiKey[]> {
    return this.rows.find({ order: { createdAt: 'ASC', id: 'ASC' } });
  }

  isEmpty(): Promise<boolean> {
    return this.rows.exists().then((exists) => !exists);
  }

  /** False if there is no such key or it was revoked before. */
  async revoke(id: string): Promise<boolean> {
    const { affected } = await this.rows.update({ id, revokedAt: IsNull() }, { revokedAt: () => 'now()' });
    return affected === 1;
  }
}

function expiry(expires: NewKey['expires']): Date | null | (() => string) {
  if (expires === undefined) return null;
  if ('at' in expires) return expires.at;
  return () => `now() + interval '${Math.round(expires.inMs)} milliseconds'`;
}
