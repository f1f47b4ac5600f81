import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, IsNull, Raw, type Repository } from 'typeorm';
import { SignInLinkEntity } from './entities/sign-in-link.entity.js';
import { hashOf } from './key-secret.js';

const linkLife = '1 hour';

/** Links to the console that sign in once, without a key. */
@Injectable()
export class SignInLinks {
  constructor(@InjectRepository(SignInLinkEntity) private readonly rows: Repository<SignInLinkEntity>) {}

  /** Makes a token that signs in once as this key, within an hour. Earlier tokens of the key no longer sign in. */
  async make(keyId: string, manager: EntityManager = this.rows.manager): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const rows = manager.getRepository(SignInLinkEntity);
    await rows.delete({ keyId });
    const expiresAt = (): string => `now() + interval '${linkLife}'`;
    await rows.insert({ hash: linkHash(token), keyId, expiresAt });
    return token;
  }

  /** Deletes links that nobody can use any more. */
  async prune(): Promise<void> {
    await this.rows.delete({ expiresAt: Raw((column) => `${column} < now() - interval '1 day'`) });
  }

  /** Returns the id of the key that the link signs in as. undefined: it was used, has expired or was never made. */
  async use(token: string, manager: EntityManager): Promise<string | undefined> {
    const rows = manager.getRepository(SignInLinkEntity);
    const hash = linkHash(token);
    const isAhead = Raw((column) => `${column} > now()`);
    // If two calls use it at once, the second finds it used.
    const used = { usedAt: () => 'now()' };
    const { affected } = await rows.update({ hash, usedAt: IsNull(), expiresAt: isAhead }, used);
    return affected === 1 ? (await rows.findOneByOrFail({ hash })).keyId : undefined;
  }
}

/** Separate from the hashes of keys. */
const linkHash = (token: string): Buffer => Buffer.from(hashOf(`link\n${token}`), 'hex');

/** The fragment is sent to no server and in no Referer, and a preview of the link does not use it up. */
export const linkUrl = (base: string, token: string): string => `${base}/console#link=${token}`;
