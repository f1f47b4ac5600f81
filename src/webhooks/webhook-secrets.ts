import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, IsNull, Not, Raw, type Repository } from 'typeorm';
import { plainTransaction } from '../database/plain-transaction.js';
import { commandOf } from '../config/package.js';
import { Config } from '../config/config.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { WebhookSecretEntity } from './entities/webhook-secret.entity.js';
import { lockWebhooksOf } from './lock-key.js';
import { open, seal } from '../tools/secret-box.js';
import { newId } from '../database/new-id.js';

/** A rotation reaches every node within this time. */
const knownMs = 5_000;
/** Webhooks are signed with both the old and the new secret for this long. */
const overlap = '24 hours';

/** The secrets that sign the webhooks of a key, as `whsec_…`. */
@Injectable()
export class WebhookSecrets {
  private readonly known = new BoundedCache<readonly string[]>(10_000);

  constructor(
    @InjectRepository(WebhookSecretEntity) private readonly rows: Repository<WebhookSecretEntity>,
    private readonly config: Config,
  ) {}

  /** Returns the newest secret. A key without one gets it now, unless WEBHOOK_SECRET is its secret. */
  async secretOf(keyId: string): Promise<string> {
    return (await this.all(keyId))[0]!;
  }

  /** Returns all valid secrets, newest first: two during a rotation. The result may be a few seconds old. */
  async secretsOf(keyId: string): Promise<readonly string[]> {
    const now = performance.now();
    const known = this.known.get(keyId, now);
    if (known !== undefined) return known;
    const secrets = await this.all(keyId);
    this.known.set(keyId, secrets, now + knownMs);
    return secrets;
  }

  /** Returns the same as `secretsOf`, as of now. */
  async all(keyId: string): Promise<string[]> {
    const own = await this.own(keyId);
    if (own.length > 0) return own;
    if (this.config.webhookSecret !== undefined) return [this.config.webhookSecret];
    await plainTransaction(this.rows, async (manager) => {
      await lockWebhooksOf(keyId, manager);
      // If two nodes make one at once, one of them succeeds, and both read that one.
      const insert = manager.createQueryBuilder().insert().into(WebhookSecretEntity);
      await insert.values(this.row(keyId, generate())).orIgnore().execute();
    });
    return this.own(keyId);
  }

  /**
   * Makes a new secret. The previous one stays valid for another day, if it can be decrypted; older ones do not.
   */
  async rotate(keyId: string, accounting?: (manager: EntityManager) => Promise<void>): Promise<string> {
    const secret = generate();
    await plainTransaction(this.rows, async (manager) => {
      await lockWebhooksOf(keyId, manager);
      const rows = manager.getRepository(WebhookSecretEntity);
      const { webhookSecret } = this.config;
      if (webhookSecret !== undefined && !(await rows.existsBy({ apiKeyId: keyId })))
        await rows.insert(this.row(keyId, webhookSecret));
      await rows.delete({ apiKeyId: keyId, expiresAt: Not(IsNull()) });
      const newest = await rows.findOneBy({ apiKeyId: keyId });
      if (newest !== null && !this.isReadable(newest)) await rows.delete({ id: newest.id });
      await rows.update({ apiKeyId: keyId }, { expiresAt: () => `now() + interval '${overlap}'` });
      await rows.insert(this.row(keyId, secret));
      await accounting?.(manager);
    });
    this.known.set(keyId, [], 0);
    return secret;
  }

  private async own(keyId: string): Promise<string[]> {
    const isAhead = Raw((column) => `${column} > now()`);
    const rows = await this.rows.find({
      where: [
        { apiKeyId: keyId, expiresAt: IsNull() },
        { apiKeyId: keyId, expiresAt: isAhead },
      ],
      order: { createdAt: 'DESC' },
    });
    return rows.map((row) => this.open(row));
  }

  private row(
    keyId: string,
    secret: string,
  ): Pick<WebhookSecretEntity, 'apiKeyId' | 'id' | 'secret' | 'isSealed'> {
    const { secretsKey } = this.config;
    const isSealed = secretsKey !== undefined;
    return {
      apiKeyId: keyId,
      id: newId(),
      isSealed,
      secret: isSealed ? seal(secretsKey, secret, keyId) : Buffer.from(secret),
    };
  }

  private isReadable(row: WebhookSecretEntity): boolean {
    try {
      return this.open(row) !== '';
    } catch {
      return false;
    }
  }

  private open({ apiKeyId, secret, isSealed }: WebhookSecretEntity): string {
    if (!isSealed) return secret.toString();
    const { secretsKey } = this.config;
    try {
      if (secretsKey !== undefined) return open(secretsKey, secret, apiKeyId);
    } catch {
      // Reported below.
    }
    throw new Error(
      'A webhook secret in the database cannot be decrypted: SECRETS_KEY is not the key that encrypted it. ' +
        `Restore that key, or make a new secret: ${commandOf('keys', 'webhook-secret rotate <key>')}`,
    );
  }
}

function generate(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
