import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../config/config.js';
import { ApiKey } from './api-key.entity.js';
import { toCaller } from './caller-finder.js';
import { type Caller, callerScopes, type Priority, type Scope, scopes } from './caller.js';
import { KeySecret } from './key-secret.js';

export interface NewKey {
  name: string;
  /** submit, read and cancel if left out. */
  scopes?: readonly Scope[] | undefined;
  /** All models if left out. */
  models?: readonly string[] | undefined;
  /** As in RATE_LIMIT_SUBMIT; the service's own limits if left out. */
  rateLimitSubmit?: string;
  rateLimitOther?: string;
  /** `high` if left out. */
  maxPriority?: Priority;
  /** Any number if left out. */
  maxWaiting?: number;
  /** Of its requests for one model; any number if left out. */
  maxRunning?: number | 'off';
  /** 1 if left out. */
  weight?: number;
  expires?: { inMs: number } | { at: Date };
}

/** What may be changed of a key; what is left out stays. */
export type KeyChanges = Pick<NewKey, 'maxRunning' | 'weight'>;

/** The API keys, for the service and for the command line. Times are the database's. */
@Injectable()
export class KeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly rows: Repository<ApiKey>,
    private readonly config: Config,
  ) {}

  /** Makes a key. Its secret is not kept: this is the only time it can be seen. */
  async create(key: NewKey): Promise<KeySecret> {
    const secret = KeySecret.generate();
    await this.add(secret, key);
    return secret;
  }

  find(id: string): Promise<ApiKey | null> {
    return this.rows.findOneBy({ id });
  }

  /** On whose behalf something is submitted again; undefined: the key is no longer valid. */
  async callerOf(id: string): Promise<Caller | undefined> {
    const row = await this.find(id);
    const isOver =
      row === null || row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= new Date());
    return isOver ? undefined : toCaller(row);
  }

  /** Oldest first, the revoked ones too. */
  list(): Promise<ApiKey[]> {
    return this.rows.find({ order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** False if there is no such key or it was revoked before. Nodes go by it within 5 s. */
  async update(id: string, { maxRunning, weight }: KeyChanges): Promise<boolean> {
    const bound = maxRunning !== undefined && { maxRunning: boundOf(maxRunning), boundedAt: () => 'now()' };
    const changes = { ...bound, ...(weight !== undefined && { weight }) };
    const { affected } = await this.rows.update({ id, revokedAt: IsNull() }, changes);
    return affected === 1;
  }

  /** False if there is no such key or it was revoked before. Nodes refuse it within 5 s. */
  async revoke(id: string): Promise<boolean> {
    const { affected } = await this.rows.update({ id, revokedAt: IsNull() }, { revokedAt: () => 'now()' });
    return affected === 1;
  }

  /**
   * Once at the start: BOOTSTRAP_API_KEY exists, and an embedded database is never left without any key.
   * `printOnce` is a key that was just made and that nobody has seen yet; `isMissing`: there is no key at all.
   */
  async bootstrap(): Promise<{ printOnce?: string; isMissing?: true }> {
    const { bootstrapApiKey, databaseUrl } = this.config;
    if (bootstrapApiKey !== undefined) {
      await this.add(new KeySecret(bootstrapApiKey), { name: 'bootstrap', scopes });
      return {};
    }
    if (await this.rows.exists()) return {};
    if (databaseUrl !== undefined) return { isMissing: true };
    return { printOnce: (await this.create({ name: 'bootstrap', scopes })).reveal() };
  }

  /** Changes nothing if the secret is known already, so a revoked key stays revoked. */
  private async add(secret: KeySecret, key: NewKey): Promise<void> {
    const row = {
      id: uuidv7(),
      name: key.name,
      prefix: secret.prefix(),
      hash: secret.hash(),
      scopes: [...new Set(key.scopes ?? callerScopes)],
      models: key.models === undefined ? null : [...new Set(key.models)],
      rateLimitSubmit: key.rateLimitSubmit ?? null,
      rateLimitOther: key.rateLimitOther ?? null,
      maxPriority: key.maxPriority ?? null,
      maxWaiting: key.maxWaiting ?? null,
      maxRunning: boundOf(key.maxRunning),
      weight: key.weight ?? 1,
      expiresAt: expiry(key.expires),
    };
    await this.rows.createQueryBuilder().insert().values(row).orIgnore().execute();
  }
}

/** null: none. */
const boundOf = (maxRunning: NewKey['maxRunning']): number | null =>
  typeof maxRunning === 'number' ? maxRunning : null;

function expiry(expires: NewKey['expires']): Date | null | (() => string) {
  if (expires === undefined) return null;
  if ('at' in expires) return expires.at;
  return () => `now() + interval '${Math.round(expires.inMs)} milliseconds'`;
}
