import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { validate as isUuid } from 'uuid';
import type { AuditAction } from './audit-actions.js';
import { AuditEntryEntity } from './entities/audit-entry.entity.js';

/** An id has the time of its node's clock, an entry that of the database: they differ by less. */
const clockSlackMs = 10 * 60_000;
/** Of the 48 bits that an id has for its time. */
const maxMs = 2 ** 48 - 1;

/** As it is kept. */
export type AuditRow = AuditEntryEntity;

export interface AuditFilter {
  /** The id or the name of a key. */
  actor?: string | undefined;
  action?: AuditAction | undefined;
  target?: string | undefined;
  /** Milliseconds since 1970. */
  afterMs?: number | undefined;
  beforeMs?: number | undefined;
}

interface Span {
  /** The last id of the page before. */
  before: string | undefined;
  limit: number;
}

/** What was audited, the newest first. */
@Injectable()
export class AuditList {
  constructor(@InjectRepository(AuditEntryEntity) private readonly rows: Repository<AuditEntryEntity>) {}

  page(
    { actor, action, target, afterMs, beforeMs }: AuditFilter,
    { before, limit }: Span,
  ): Promise<AuditRow[]> {
    const query = this.rows.createQueryBuilder('entry').orderBy('entry.id', 'DESC').take(limit);
    if (before !== undefined) query.andWhere('entry.id < :before', { before });
    if (actor !== undefined)
      query.andWhere(isUuid(actor) ? 'entry.actorKeyId = :actor' : 'entry.actorName = :actor', { actor });
    if (action !== undefined) query.andWhere('entry.action = :action', { action });
    if (target !== undefined) query.andWhere('entry.target = :target', { target });
    // The ids bound what is looked at, in their index; the times say what is meant.
    if (afterMs !== undefined)
      query
        .andWhere('entry.id >= :firstId', { firstId: idAt(afterMs - clockSlackMs) })
        .andWhere('entry.at >= :after', { after: new Date(afterMs) });
    if (beforeMs !== undefined)
      query
        .andWhere('entry.id < :endId', { endId: idAt(beforeMs + clockSlackMs) })
        .andWhere('entry.at < :end', { end: new Date(beforeMs) });
    return query.getMany();
  }
}

/** The first id of that time. */
function idAt(ms: number): string {
  const time = Math.min(Math.max(ms, 0), maxMs).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
