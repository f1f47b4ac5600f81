import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Config } from '../config/config.js';
import { ApiKey } from './api-key.entity.js';
import { CallerFinder } from './caller-finder.js';
import type { Caller } from './caller.js';
import { KeySecret } from './key-secret.js';
import { KeyStore, type NewKey } from './key-store.js';
import { LastUse } from './last-use.js';

/** The API keys of the service, and who calls with one of them. */
@Injectable()
export class KeysService {
  private readonly store: KeyStore;

  constructor(
    @InjectRepository(ApiKey) rows: Repository<ApiKey>,
    private readonly finder: CallerFinder,
    private readonly lastUse: LastUse,
    private readonly config: Config,
  ) {
    this.store = new KeyStore(rows);
  }

  /** Makes a key. Its secret is not kept: this is the only time it can be seen. */
  async create(key: NewKey): Promise<KeySecret> {
    const secret = KeySecret.generate();
    await this.store.add(secret, key);
    return secret;
  }

  list(): Promise<ApiKey[]> {
    return this.store.list();
  }

  /** The key stops working here before this resolves, and within 5 s on other nodes. */
  async revoke(id: string): Promise<boolean> {
    const revoked = await this.store.revoke(id);
    this.finder.forget();
    return revoked;
  }

  /** Whose key this is, by its hash; undefined if it is unknown, revoked or expired. At once if it is known here. */
  holder(hash: string): Caller | undefined | Promise<Caller | undefined> {
    const found = this.finder.find(hash);
    return found instanceof Promise ? found.then((caller) => this.noted(caller)) : this.noted(found);
  }

  /**
   * Once at the start: BOOTSTRAP_API_KEY exists, and an embedded database is never left without any key.
   * `printOnce` is a key that was just made and that nobody has seen yet; `isMissing`: there is no key at all.
   */
  async bootstrap(): Promise<{ printOnce?: string; isMissing?: true }> {
    const { bootstrapApiKey, databaseUrl } = this.config;
    if (bootstrapApiKey !== undefined) {
      await this.store.add(new KeySecret(bootstrapApiKey), { name: 'bootstrap' });
      this.finder.forget();
      return {};
    }
    if (!(await this.store.isEmpty())) return {};
    if (databaseUrl !== undefined) return { isMissing: true };
    return { printOnce: (await this.create({ name: 'bootstrap' })).reveal() };
  }

  private noted(caller: Caller | undefined): Caller | undefined {
    if (caller !== undefined) this.lastUse.note(caller.keyId);
    return caller;
  }
}
