import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Actor } from '../../audit/actor.decorator.js';
import { type AuditFilter, AuditList, type AuditRow } from '../../audit/audit-list.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { CallerWatch } from '../../auth/caller-watch.js';
import { type Page, PageOf } from '../../http/input/page.js';
import { sendLines } from '../../http/send-lines.js';
import { Operators } from '../operators.js';
import { type AuditEntryDto, AuditQuery } from './audit.dto.js';
import { ApiListAudit } from './audit.docs.js';

const lines = 'application/x-ndjson';
/** Rows that an export reads at once. */
const chunkSize = 1_000;

/** The audit: who did what. */
@Controller('v1/admin/audit')
export class AuditController {
  constructor(
    private readonly entries: AuditList,
    private readonly trail: AuditTrail,
    private readonly watch: CallerWatch,
  ) {}

  @Get()
  @ApiListAudit
  @Operators('observe')
  async listAudit(
    @PageOf(AuditQuery) page: Page<AuditQuery>,
    @Actor() actor: Actor,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { actor: by, action, target, after: afterMs, before: beforeMs } = page.query;
    const filter: AuditFilter = { actor: by, action, target, afterMs, beforeMs };
    const before = page.afterId;
    if (request.accepts('json', lines) === lines) {
      await this.trail.note(actor, { action: 'audit.export', after: page.written });
      const file = { contentType: lines, fileName: 'audit.ndjson' };
      await sendLines(this.watch, response, file, this.chunks(filter, before));
      return;
    }
    const rows = await this.entries.page(filter, { before, limit: page.limit + 1 });
    response.json(page.of(rows, ({ id }) => id, toView));
  }

  private async *chunks(filter: AuditFilter, after: string | undefined): AsyncGenerator<string> {
    let before = after;
    for (;;) {
      const rows = await this.entries.page(filter, { before, limit: chunkSize });
      if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(toView(row))}\n`).join('');
      if (rows.length < chunkSize) return;
      before = rows.at(-1)!.id;
    }
  }
}

function toView(row: AuditRow): AuditEntryDto {
  return {
    id: row.id,
    at: row.at.toISOString(),
    action: row.action,
    target: row.target,
    actor: {
      key_id: row.actorKeyId,
      name: row.actorName,
      session_id: row.sessionId,
      address: row.address,
      user_agent: row.userAgent,
    },
    http_request_id: row.httpRequestId,
    before: row.before,
    after: row.after,
    reason: row.reason,
  };
}
