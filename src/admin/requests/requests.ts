import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import type { Caller } from '../../auth/caller.js';
import { Handles } from '../../auth/handles.js';
import { KeysService } from '../../auth/keys.service.js';
import type { Queries } from '../../database/statement.js';
import { DomainError } from '../../errors/domain-error.js';
import { OperatorRequests, type OperatorRow } from '../../queue/reads/operator-requests.js';
import { Cancels } from '../../queue/completion/cancels.js';
import type { Page } from '../../http/input/page.js';
import { QueueService } from '../../queue/queue.service.js';
import { Erasures } from '../../queue/retention/erasures.js';
import { isRequestId } from '../../queue/submit/request-id.js';
import { Retries } from '../../requests/retries.js';
import { BoundedCache } from '../../tools/bounded-cache.js';
import type { LogQuery } from './list.query.js';
import { AdminRequestViews } from './request-view.js';

/** If a key reads the same payload repeatedly, or in parts, it is audited once in this time. */
const readAgainMs = 600_000;

export type Part = 'input' | 'output' | 'log';

/** Shows operators the requests of all keys, and acts on one of them. */
@Injectable()
export class AdminRequests {
  private readonly readLately = new BoundedCache<Promise<void>>(10_000);

  constructor(
    private readonly all: OperatorRequests,
    private readonly cancels: Cancels,
    private readonly erasures: Erasures,
    private readonly queue: QueueService,
    private readonly handles: Handles,
    private readonly trail: AuditTrail,
    private readonly keys: KeysService,
    private readonly retries: Retries,
  ) {}

  /** Finds a request by its id or its handle. */
  async find(idOrHandle: string): Promise<OperatorRow> {
    const id = this.handles.idOf(idOrHandle);
    const row = isRequestId(id) ? await this.all.find(id) : undefined;
    if (row === undefined) throw new DomainError('unknown_request', `There is no request ${idOrHandle}.`);
    return row;
  }

  async request(caller: Caller, idOrHandle: string) {
    const row = await this.find(idOrHandle);
    const view = new AdminRequestViews(caller, this.handles).request(row, this.queue.snapshot(row));
    const { input, output } = await this.all.payloadSizes(row.id);
    const bound = this.all.isHeld(row) ? (await this.keys.find(row.keyId))?.maxRunning : undefined;
    return { ...view, input_bytes: input, output_bytes: output, ...(bound && { held_at: bound }) };
  }

  async life(idOrHandle: string) {
    const row = await this.find(idOrHandle);
    const [events, positions] = await Promise.all([this.all.life(row.id), this.all.positions(row)]);
    const data = events.map((event) => ({
      id: event.id,
      at: event.at,
      kind: event.kind,
      attempt: event.attempt,
      node: event.node,
      // If it had no run, or the last run ended otherwise, it was cancelled or expired while it waited.
      outcome: event.kind === 'completed' && row.outcome !== 'failed' ? row.outcome : event.outcome,
      code: event.code,
      message: event.message,
      ended_at: event.endedAt,
      until: event.until,
    }));
    return { data, positions };
  }

  async log(caller: Caller, actor: Actor, idOrHandle: string, page: Page<LogQuery>) {
    const after = page.after((text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)) ?? 0;
    const { id } = await this.read(caller, actor, idOrHandle, 'log');
    const rows = await this.all.log(id, { after, limit: page.limit + 1 });
    return page.of(
      rows,
      (entry) => String(entry.id),
      ({ at, ...entry }) => ({ ...entry, timestamp: at }),
    );
  }

  /** Throws `gone` if there is no such payload, or it is kept no longer. */
  async payload(caller: Caller, actor: Actor, idOrHandle: string, part: 'input' | 'output', slice: Slice) {
    const { id } = await this.read(caller, actor, idOrHandle, part);
    const found = await this.all.payload(id, part, slice);
    if (found !== null) return found;
    throw new DomainError('gone', `The request has no ${part}, or it is no longer stored.`);
  }

  async cancel(caller: Caller, actor: Actor, idOrHandle: string, reason: string | undefined) {
    const row = await this.find(idOrHandle);
    const target = this.handles.handleOf(row.id);
    const accounting = async (queries: Queries, became: string): Promise<void> => {
      if (became === 'completed') return;
      await this.trail.writeBy(queries, actor, {
        action: 'request.cancel',
        target,
        before: { status: row.state },
        after: { result: became },
        reason,
      });
    };
    const found = await this.cancels.one(row.id, { accounting });
    if (found?.result === 'completed')
      throw new DomainError(
        'already_completed',
        'The request has completed; there is nothing left to cancel.',
      );
    return this.request(caller, row.id);
  }

  /** Submits a request again on behalf of its key. `headers`: those of the call. */
  async retry(caller: Caller, actor: Actor, idOrHandle: string, { reason, headers }: RetryCall) {
    const row = await this.find(idOrHandle);
    assertCompleted(row);
    const owner = await this.keys.callerOf(row.keyId);
    if (owner === undefined)
      throw new DomainError(
        'forbidden',
        'The key of the request is revoked or expired, so nothing is submitted for it.',
      );
    const accounting = (queries: Queries, newId: string): Promise<void> =>
      this.trail.writeBy(queries, actor, {
        action: 'request.retry',
        target: this.handles.handleOf(row.id),
        after: { retried_as: this.handles.handleOf(newId) },
        reason,
      });
    const accepted = await this.retries.submit(owner, row, { headers, accounting });
    if (accepted === undefined)
      throw new DomainError('gone', 'The input of the request is no longer stored.');
    return this.request(caller, accepted.id);
  }

  async erase(actor: Actor, idOrHandle: string, reason: string | undefined): Promise<void> {
    const row = await this.find(idOrHandle);
    assertCompleted(row);
    const note = { action: 'request.erase', target: this.handles.handleOf(row.id), reason } as const;
    const isErased = await this.erasures.one(row.id, (queries) => this.trail.writeBy(queries, actor, note));
    if (!isErased) throw new DomainError('gone', 'The request was already erased.');
  }

  /** Writes the audit entry before anything of the request is read. */
  async read(caller: Caller, actor: Actor, idOrHandle: string, part: Part): Promise<OperatorRow> {
    const row = await this.find(idOrHandle);
    const [key, now] = [`${caller.keyId} ${row.id} ${part}`, performance.now()];
    let noted = this.readLately.get(key, now);
    if (noted === undefined) {
      const target = this.handles.handleOf(row.id);
      noted = this.trail.note(actor, { action: 'payload.read', target, after: { part } });
      this.readLately.set(key, noted, now + readAgainMs);
      noted.catch(() => this.readLately.delete(key));
    }
    await noted;
    return row;
  }
}

interface RetryCall {
  reason: string | undefined;
  headers: object;
}

interface Slice {
  from: number;
  to: number;
}

function assertCompleted({ state }: OperatorRow): void {
  if (state !== 'COMPLETED')
    throw new DomainError(
      'not_completed',
      'The request has not completed yet. Cancel it first, or wait for its end.',
    );
}
