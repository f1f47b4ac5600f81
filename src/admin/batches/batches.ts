import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { type Caller, hasScope } from '../../auth/caller.js';
import type { SegmentKind } from '../../batches/batch.js';
import { toBatchFacts } from '../../batches/batch-view.js';
import { Batches } from '../../batches/batches.js';
import { type OperatorBatch, OperatorBatches } from '../../batches/operator-batches.js';
import type { Queries } from '../../database/statement.js';
import type { Page } from '../../http/input/page.js';
import { toTime } from '../../tools/to-time.js';
import type { AdminBatchDto, AdminBatchesQuery, AdminBatchPageDto } from './batches.dto.js';

/** Shows operators the batches of all keys, and cancels one. */
@Injectable()
export class AdminBatches {
  constructor(
    private readonly all: OperatorBatches,
    private readonly batches: Batches,
    private readonly trail: AuditTrail,
  ) {}

  async list(caller: Caller, page: Page<AdminBatchesQuery>): Promise<AdminBatchPageDto> {
    const { status, key_id: keyId, tag } = page.query;
    const rows = await this.all.list({ status, keyId, tag, before: page.afterId, limit: page.limit + 1 });
    return page.of(
      rows,
      ({ id }) => id,
      (batch) => toView(caller, batch),
    );
  }

  async read(caller: Caller, id: string): Promise<AdminBatchDto> {
    return toView(caller, await this.all.find(id));
  }

  async cancel(caller: Caller, actor: Actor, id: string, reason: string | undefined): Promise<AdminBatchDto> {
    await this.trail.inTransaction(async (manager) => {
      const queries: Queries = { query: ({ text }, values) => manager.query(text, values) };
      const before = await this.all.cancel(queries, id);
      if (before === undefined) return;
      const target = id;
      const states = { before: { status: before }, after: { status: 'cancelling' } };
      await this.trail.write(manager, actor, { action: 'batch.cancel', target, ...states, reason });
    });
    this.all.wake();
    return this.read(caller, id);
  }

  async file(actor: Actor, id: string, kind: SegmentKind): Promise<AsyncGenerator<Buffer>> {
    const batch = await this.all.find(id);
    await this.trail.note(actor, { action: 'payload.read', target: `batch ${id}`, after: { part: kind } });
    return kind === 'output' ? this.batches.readOutput(batch) : this.batches.readErrors(batch);
  }
}

/** Without `payloads`, faults are shown without their message, which may quote the caller's line. */
function toView(caller: Caller, batch: OperatorBatch): AdminBatchDto {
  const seesPayloads = hasScope(caller, 'payloads');
  return {
    ...toBatchFacts(batch),
    key: { id: batch.keyId, name: batch.keyName },
    format: batch.format,
    cancelling_at: toTime(batch.cancellingAtMs),
    errors: batch.errors.map((fault) => ({ ...fault, message: seesPayloads ? fault.message : null })),
    output_bytes: batch.outputBytes,
    error_bytes: batch.errorBytes,
  };
}
