import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Not, type Repository } from 'typeorm';
import type { Caller } from '../auth/caller.js';
import { policyText } from '../config/rate-limits.js';
import { type KeyLimitDto, type KeyLimitsDto, toKeyLimit } from './dto/key-limits.dto.js';
import { LimitShareEntity } from './entities/limit-share.entity.js';
import { Gate } from './gate.js';
import { writeAfterMs } from './share-book.js';
import { ShareKeeper } from './share-keeper.js';
import type { RouteClass } from './share-store.js';

/**
 * Computes what is left of callers' limits over all nodes. It subtracts what this node counted and what the other nodes
 * last wrote. A row counts only in windows at least as long as a row may be old, and as its holder has been gone.
 */
@Injectable()
export class Quotas {
  constructor(
    private readonly gate: Gate,
    private readonly keeper: ShareKeeper,
    @InjectRepository(LimitShareEntity) private readonly shares: Repository<LimitShareEntity>,
  ) {}

  /** Counts no call. */
  async of(callers: readonly Caller[]): Promise<(caller: Caller) => KeyLimitsDto> {
    const { holder, watch, timing } = this.keeper;
    const subjects = callers.map((caller) => this.gate.subjectOfKey(caller, 'submit').subject);
    const rows = await this.shares.findBy({ subject: In(subjects), holderId: Not(holder) });
    const goneMs = new Map(watch.gone(timing.now()).map(({ id, forMs }) => [id, forMs]));
    return (caller) => ({
      submit: this.limits(caller, 'submit', rows, goneMs),
      other: this.limits(caller, 'other', rows, goneMs),
      batch: this.limits(caller, 'batch', rows, goneMs),
    });
  }

  private limits(
    caller: Caller,
    routeClass: RouteClass,
    rows: readonly LimitShareEntity[],
    goneMs: ReadonlyMap<string, number>,
  ): KeyLimitDto[] {
    const subject = this.gate.subjectOfKey(caller, routeClass);
    const policy = policyText(subject.limits);
    const others = rows.filter(
      (row) => row.subject === subject.subject && row.routeClass === routeClass && row.policy === policy,
    );
    return this.keeper.use(subject).map(({ window, used, resetMs }, i) => {
      const counting = others.filter(
        ({ holderId }) => window.windowMs >= Math.max(writeAfterMs, goneMs.get(holderId) ?? 0),
      );
      const usedByOthers = counting.reduce((all, row) => all + row.used[i]!, 0);
      return toKeyLimit({
        window,
        remaining: Math.max(0, window.limit - used - usedByOthers),
        resetMs: used === 0 && usedByOthers > 0 ? window.windowMs : resetMs,
      });
    });
  }
}
