import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ArrayContains, type EntityManager, In, IsNull, LessThan, Not, Raw, type Repository } from 'typeorm';
import { Config } from '../config/config.js';
import { clock } from '../database/clock.js';
import { newId } from '../database/new-id.js';
import { ApiKey } from './api-key.entity.js';
import { toCaller } from './caller-finder.js';
import { type Caller, callerScopes, type Priority, type Scope, scopes } from './caller.js';
import { SessionEntity } from './entities/session.entity.js';
import { KeySecret } from './key-secret.js';
import type { KeyState } from './key-view.js';

export interface NewKey {
  name: string;
  /** The subject of a person who signs in by OpenID Connect. */
  subject?: string;
  /** submit, read and cancel if left out. */
  scopes?: readonly Scope[] | undefined;
  /** All models if left out or null. */
  models?: readonly string[] | null | undefined;
  /** Limits as in RATE_LIMIT_SUBMIT; the service's own limits if left out or null. */
  rateLimitSubmit?: string | null | undefined;
  rateLimitOther?: string | null | undefined;
  /** Limits of the items of its batches. */
  rateLimitBatch?: string | null | undefined;
  /** `high` if left out or null. */
  maxPriority?: Priority | null | undefined;
  /** The number of its requests that may wait; any number if left out or null. */
  maxWaiting?: number | null | undefined;
  /** The number of its requests for one model that may run at once; any number if left out or null. */
  maxRunning?: number | null | undefined;
  /** 1 if left out. */
  weight?: number | undefined;
  /** Never if left out or null. */
  expires?: { inMs: number } | { at: Date } | null | undefined;
}

/** Changes to a key. A field that is left out stays as it is. */
export type KeyChanges = Partial<NewKey>;

/** A key that was just made, with its secret, which cannot be seen again. */
interface MadeKey {
  id: string;
  secret: KeySecret;
}

/** The first keys: of an administrator, who may do everything, and of applications. */
interface FirstKeys {
  admin: MadeKey;
  caller: MadeKey;
}

interface Bootstrapped {
  made?: readonly string[];
  printOnce?: FirstKeys;
  isMissing?: true;
}

/** The API keys, for the service and for the command line. Times are the database's. */
@Injectable()
export class KeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly rows: Repository<ApiKey>,
    private readonly config: Config,
  ) {}

  /** Makes a key. Its secret is not stored, so this is the only time it can be seen. */
  async create(key: NewKey): Promise<KeySecret> {
    return (await this.make(key)).secret;
  }

  /** Does the same as `create`, in a transaction. */
  async make(key: NewKey, manager = this.rows.manager): Promise<MadeKey> {
    const secret = KeySecret.generate();
    return { id: await this.add(secret, key, manager), secret };
  }

  find(id: string): Promise<ApiKey | null> {
    return this.rows.findOneBy({ id });
  }

  /** Returns the caller on whose behalf something is submitted again. undefined: the key is no longer valid. */
  async callerOf(id: string): Promise<Caller | undefined> {
    const row = await this.find(id);
    const isOver =
      row === null ||
      row.revokedAt !== null ||
      (row.expiresAt !== null && row.expiresAt.getTime() <= clock.now());
    return isOver ? undefined : toCaller(row);
  }

  /** Returns the names of these keys, by id. */
  async names(ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.rows.find({ where: { id: In(ids) }, select: { id: true, name: true } });
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Newest first. `before`: the last id of the page before. */
  page({ state, before, limit }: KeyPage): Promise<ApiKey[]> {
    const where = {
      ...(state !== undefined && inState[state]),
      ...(before !== undefined && { id: LessThan(before) }),
    };
    return this.rows.find({ where, order: { id: 'DESC' }, take: limit });
  }

  /** Reads a key in a transaction and locks it until the transaction ends. */
  read(id: string, manager: EntityManager): Promise<ApiKey | null> {
    return manager.getRepository(ApiKey).findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
  }

  findSubject(subject: string, manager: EntityManager): Promise<ApiKey | null> {
    return manager.getRepository(ApiKey).findOneBy({ subject });
  }

  /** Returns the key unless it is revoked or expired. */
  findValid(id: string, manager = this.rows.manager): Promise<ApiKey | null> {
    return manager.getRepository(ApiKey).findOneBy({ ...isValid, id });
  }

  /** Returns the keys that may do everything, and locks them: no two can revoke each other at once. */
  lockAdmins(manager: EntityManager): Promise<ApiKey[]> {
    const where = { ...isValid, subject: IsNull(), scopes: ArrayContains(['admin']) };
    const lock = { mode: 'pessimistic_write' } as const;
    return manager.getRepository(ApiKey).find({ where, order: { id: 'ASC' }, lock });
  }

  /** Oldest first, including revoked keys. */
  list(): Promise<ApiKey[]> {
    return this.rows.find({ order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** Returns false if there is no such key or it was revoked before. Nodes apply it within 5 s. */
  async update(id: string, changes: KeyChanges, manager = this.rows.manager): Promise<boolean> {
    const bounded = changes.maxRunning !== undefined && { boundedAt: () => 'now()' };
    const columns = { ...columnsOf(changes), ...bounded };
    const { affected } = await manager.getRepository(ApiKey).update({ id, revokedAt: IsNull() }, columns);
    return affected === 1;
  }

  /** Returns false if there is no such key or it was revoked before. Nodes refuse it, and its sessions, within 5 s. */
  async revoke(id: string, manager = this.rows.manager): Promise<boolean> {
    const { affected } = await manager
      .getRepository(ApiKey)
      .update({ id, revokedAt: IsNull() }, { revokedAt: () => 'now()' });
    const sessions = manager.getRepository(SessionEntity);
    await sessions.update({ keyId: id, endedAt: IsNull() }, { endedAt: () => 'now()' });
    return affected === 1;
  }

  /**
   * Runs once at the start. It ensures that BOOTSTRAP_API_KEY exists, and that an embedded database is never without a
   * key. `made` are the ids of keys that were just made. `printOnce` are keys that nobody has seen yet. `isMissing`:
   * there is no key at all.
   */
  async bootstrap(manager = this.rows.manager): Promise<Bootstrapped> {
    const { bootstrapApiKey, databaseUrl } = this.config;
    if (bootstrapApiKey !== undefined) {
      const secret = new KeySecret(bootstrapApiKey);
      const made = await this.add(secret, { name: 'bootstrap', scopes }, manager);
      return (await manager.existsBy(ApiKey, { id: made })) ? { made: [made] } : {};
    }
    if (await manager.exists(ApiKey)) return {};
    if (databaseUrl !== undefined) return { isMissing: true };
    const admin = await this.make({ name: 'bootstrap', scopes }, manager);
    const caller = await this.make({ name: 'applications' }, manager);
    return { made: [admin.id, caller.id], printOnce: { admin, caller } };
  }

  /** Changes nothing if the secret is known already, so a revoked key stays revoked. */
  private async add(secret: KeySecret, key: NewKey, manager = this.rows.manager): Promise<string> {
    const id = newId();
    const own = { id, prefix: secret.prefix(), hash: secret.hash() };
    const row = { ...own, ...columnsOf({ ...key, scopes: key.scopes ?? callerScopes }) };
    await manager.createQueryBuilder().insert().into(ApiKey).values(row).orIgnore().execute();
    return id;
  }
}

interface KeyPage {
  state: KeyState | undefined;
  before: string | undefined;
  limit: number;
}

const isValid = {
  revokedAt: IsNull(),
  expiresAt: Raw((column) => `(${column} > now()) IS NOT false`),
};

const inState = {
  valid: isValid,
  revoked: { revokedAt: Not(IsNull()) },
  expired: { revokedAt: IsNull(), expiresAt: Raw((column) => `${column} <= now()`) },
};

/** Returns the columns of the fields that are given. */
function columnsOf({ scopes, models, expires, ...others }: KeyChanges) {
  return {
    ...others,
    scopes: scopes && [...new Set(scopes)],
    models: models && [...new Set(models)],
    expiresAt: expires && expiry(expires),
  };
}

function expiry(expires: { inMs: number } | { at: Date }): Date | (() => string) {
  if ('at' in expires) return expires.at;
  return () => `now() + interval '${Math.round(expires.inMs)} milliseconds'`;
}
