import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOperator, In, IsNull, LessThan, Raw, type Repository } from 'typeorm';
import { CallerFinder } from './caller-finder.js';
import { SessionEntity } from './entities/session.entity.js';
import { sessionHash } from './session-cookie.js';
import { newId } from '../database/new-id.js';

const sessionLife = '12 hours';
/** A session is kept for this long after it expires, to show from where somebody was signed in. */
const keptFor = '90 days';

/** Sessions of a key: those that are open, and all that are kept. The oldest make room. */
const maxOpen = 100;
const maxKept = 1_000;

/** The browser that began a session. */
export interface Browser {
  address: string | null;
  userAgent: string | null;
}

/** Browsers that are signed in, each as a key. */
@Injectable()
export class Sessions {
  constructor(
    @InjectRepository(SessionEntity) private readonly rows: Repository<SessionEntity>,
    private readonly finder: CallerFinder,
  ) {}

  /** Begins a session. Returns its token for the cookie, which cannot be seen again. */
  async begin(
    manager: EntityManager,
    keyId: string,
    browser: Browser,
  ): Promise<{ id: string; token: string; expiresAt: Date }> {
    const [id, token] = [newId(), randomBytes(32).toString('base64url')];
    const rows = manager.getRepository(SessionEntity);
    await this.makeRoom(manager, keyId);
    await rows.insert({
      id,
      keyId,
      hash: Buffer.from(sessionHash(token), 'hex'),
      address: browser.address,
      userAgent: browser.userAgent,
      expiresAt: () => `now() + interval '${sessionLife}'`,
    });
    const { expiresAt } = await rows.findOneByOrFail({ id });
    return { id, token, expiresAt };
  }

  private async makeRoom(manager: EntityManager, keyId: string): Promise<void> {
    const rows = manager.getRepository(SessionEntity);
    const newestFirst = { order: { id: 'DESC' }, select: { id: true } } as const;
    const isAhead = Raw((column) => `${column} > now()`);
    const open = await rows.find({
      where: { keyId, endedAt: IsNull(), expiresAt: isAhead },
      skip: maxOpen - 1,
      take: maxKept,
      ...newestFirst,
    });
    if (open.length > 0) await rows.update({ id: In(open.map(({ id }) => id)) }, { endedAt: () => 'now()' });
    const old = await rows.find({ where: { keyId }, skip: maxKept - 1, take: maxKept, ...newestFirst });
    if (old.length > 0) await rows.delete({ id: In(old.map(({ id }) => id)) });
  }

  /** Deletes sessions that expired long ago. */
  async prune(): Promise<void> {
    await this.rows.delete({ expiresAt: isLongOver() });
  }

  /** Returns false if there is none, or it has ended. Nodes apply it within 5 s. */
  async end(manager: EntityManager, id: string): Promise<boolean> {
    const rows = manager.getRepository(SessionEntity);
    const { affected } = await rows.update({ id, endedAt: IsNull() }, { endedAt: () => 'now()' });
    return affected === 1;
  }

  /** The end of a session or a change of a key is committed. On this node it applies from the next call on. */
  lookAgain(): void {
    this.finder.lookAgain();
  }

  find(id: string): Promise<SessionEntity | null> {
    return this.rows.findOneBy({ id });
  }

  /** The open sessions, newest first. */
  list({ before, limit }: { before: string | undefined; limit: number }): Promise<SessionEntity[]> {
    const isAhead = Raw((column) => `${column} > now()`);
    return this.rows.find({
      where: { endedAt: IsNull(), expiresAt: isAhead, ...(before !== undefined && { id: LessThan(before) }) },
      order: { id: 'DESC' },
      take: limit,
    });
  }
}

function isLongOver(): FindOperator<Date> {
  return Raw((column) => `${column} < now() - interval '${keptFor}'`) as FindOperator<Date>;
}
