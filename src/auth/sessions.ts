import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, IsNull, Raw, type Repository } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { CallerFinder } from './caller-finder.js';
import { SessionEntity } from './entities/session.entity.js';
import { SignInLinkEntity } from './entities/sign-in-link.entity.js';
import { hashOf } from './key-secret.js';
import { sessionHash } from './session-cookie.js';

const sessionLife = '12 hours';
const linkLife = '1 hour';

/** From where a session was begun. */
export interface Browser {
  address: string;
  userAgent: string | undefined;
}

/** Browsers that are signed in, each for a key. */
@Injectable()
export class Sessions {
  constructor(
    @InjectRepository(SessionEntity) private readonly rows: Repository<SessionEntity>,
    @InjectRepository(SignInLinkEntity) private readonly links: Repository<SignInLinkEntity>,
    private readonly finder: CallerFinder,
  ) {}

  /** Its token, for the cookie: the only time that it can be seen. */
  async begin(
    manager: EntityManager,
    keyId: string,
    browser: Browser,
  ): Promise<{ id: string; token: string }> {
    const [id, token] = [uuidv7(), randomBytes(32).toString('base64url')];
    await manager.getRepository(SessionEntity).insert({
      id,
      keyId,
      hash: Buffer.from(sessionHash(token), 'hex'),
      address: browser.address,
      userAgent: browser.userAgent?.slice(0, 300) ?? null,
      expiresAt: () => `now() + interval '${sessionLife}'`,
    });
    return { id, token };
  }

  /** False: there is none, or it has ended. On this node at once, on the others within 5 s. */
  async end(manager: EntityManager, id: string): Promise<boolean> {
    const rows = manager.getRepository(SessionEntity);
    const { affected } = await rows.update({ id, endedAt: IsNull() }, { endedAt: () => 'now()' });
    this.finder.forgetSession(id);
    return affected === 1;
  }

  /** Those that go on, newest first. */
  list(): Promise<SessionEntity[]> {
    const isAhead = Raw((column) => `${column} > now()`);
    return this.rows.find({ where: { endedAt: IsNull(), expiresAt: isAhead }, order: { id: 'DESC' } });
  }

  /** A token that signs in once as this key. Those before it sign in no more. */
  async makeLink(keyId: string): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    await this.links.delete({ keyId });
    await this.links.insert({
      hash: Buffer.from(hashOf(token), 'hex'),
      keyId,
      expiresAt: () => `now() + interval '${linkLife}'`,
    });
    return token;
  }

  /** The id of the key that the link signs in as; undefined: it was used, is over or was never made. */
  async useLink(manager: EntityManager, token: string): Promise<string | undefined> {
    const links = manager.getRepository(SignInLinkEntity);
    const where = { hash: Buffer.from(hashOf(token), 'hex'), usedAt: IsNull() };
    // Of two that use it at once the second finds it used.
    const { affected } = await links.update(
      { ...where, expiresAt: Raw((column) => `${column} > now()`) },
      { usedAt: () => 'now()' },
    );
    if (affected !== 1) return undefined;
    return (await links.findOneByOrFail({ hash: where.hash })).keyId;
  }
}
