import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { validate as isUuid } from 'uuid';
import type { AuditAction } from './audit-actions.js';
import { AuditEntryEntity } from './entities/audit-entry.entity.js';

/** An id has the time of its node's clock, an entry that of the database. They differ by less than this. */
const clockSlackMs = 10 * 60_000;
/** An id has 48 bits for its time. */
const maxMs = 2 ** 48 - 1;

/** An entry as it is stored. */
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
  /** The last id of the previous page. */
  before: string | undefined;
  limit: number;
}

/** The audit entries, newest first. */
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
    // The ids bound what is read in their index; the times decide what is returned.
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

/** Returns the first id of that time. */
function idAt(ms: number): string {
  const time = Math.min(Math.max(ms, 0), maxMs).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
