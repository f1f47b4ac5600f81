import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { AuditTrail } from '../audit/audit-trail.js';
import type { Caller } from '../auth/caller.js';
import { Handles } from '../auth/handles.js';
import { chargesOf } from '../http/charges.js';
import type { Reply } from '../http/reply.js';
import { headerFieldsOf } from '../http/input/option.js';
import type { Page, PageAnswer } from '../http/input/page.js';
import { Cancels } from '../queue/completion/cancels.js';
import { QueueService } from '../queue/queue.service.js';
import { CallerRequests } from '../queue/reads/caller-requests.js';
import type { StatusRow } from '../queue/reads/status-row.js';
import { Erasures } from '../queue/retention/erasures.js';
import { isRequestId } from '../queue/submit/request-id.js';
import { Submissions } from '../queue/submit/submissions.js';
import type { CancelCountsDto, CancelManyDto, RequestIdsDto, RequestPageDto } from './dto/collection.dto.js';
import { type ListQuery, toFilter } from './dto/list.query.js';
import { SubmitHeaders } from './dto/submit.headers.js';
import { AtATime } from '../tools/at-a-time.js';
import {
  type AcceptedReply,
  acceptedReply,
  fingerprintOf,
  gone,
  notCompleted,
  RequestHandlers,
} from './request-handlers.js';
import { Retries } from './retries.js';
import { toStatus } from './status-view.js';

/** Calls with more ids take turns. */
const manyIds = 100;

/** Handles the calls about a key's requests as a collection. `base` is the beginning of the URLs in an answer. */
@Injectable()
export class CollectionHandlers {
  private readonly turns = new AtATime(1);

  constructor(
    private readonly collection: CallerRequests,
    private readonly cancels: Cancels,
    private readonly erasures: Erasures,
    private readonly requests: RequestHandlers,
    private readonly retries: Retries,
    private readonly submissions: Submissions,
    private readonly queue: QueueService,
    private readonly trail: AuditTrail,
    private readonly handles: Handles,
  ) {}

  list(caller: Caller, page: Page<ListQuery>, base: string): Promise<RequestPageDto> {
    return this.pageOf(caller, page, (row) => this.toStatus(row, base));
  }

  /** The same list in any form. */
  async pageOf<View>(
    { keyId }: Caller,
    page: Page<ListQuery>,
    toView: (row: StatusRow) => View,
  ): Promise<PageAnswer<View>> {
    // The position has the key, because a cursor is for the list of one key.
    const before = page.after((position) => {
      const [key, id = ''] = position.split(' ', 2);
      return key === keyId && isRequestId(id) ? id : undefined;
    });
    const filter = toFilter(page.query);
    const { rows, lastId } = await this.collection.list(keyId, filter, { before, limit: page.limit });
    return page.until(rows, lastId && `${keyId} ${lastId}`, toView);
  }

  /** Room for the answer is reserved before it is built, because one id can be in the call a thousand times. */
  statuses(
    caller: Caller,
    { request_ids: ids }: RequestIdsDto,
    base: string,
    request: IncomingMessage,
  ): Promise<Reply> {
    return this.inTurn(caller, ids.length, async () => {
      const known = [...new Set(ids.filter(isRequestId))];
      const rows = await this.collection.statuses(caller.keyId, known);
      const textOf = new Map(
        known.map((id, i) => [
          id,
          rows[i] === undefined ? 'null' : JSON.stringify(this.toStatus(rows[i], base)),
        ]),
      );
      const texts = ids.map((id) => textOf.get(id) ?? 'null');
      chargesOf(request)?.reserveAnswer(
        texts.reduce((bytes, text) => bytes + Buffer.byteLength(text) + 1, 0),
      );
      return { status: 200, body: `{"results":[${texts.join(',')}]}` };
    });
  }

  /** A cancel by filter counts as one call, because it cancels each request of the key at most once. */
  async cancel(caller: Caller, { request_ids: ids = [], filter }: CancelManyDto): Promise<CancelCountsDto> {
    const { alreadyCompleted, cancellationRequested, ...counts } =
      filter === undefined
        ? await this.inTurn(caller, ids.length, () => this.cancelIds(caller.keyId, ids))
        : await this.cancels.fitting(caller.keyId, filter);
    return {
      cancelled: counts.cancelled,
      cancellation_requested: cancellationRequested,
      already_completed: alreadyCompleted,
      unknown: counts.unknown,
      more: counts.more,
    };
  }

  /** Resolves when the new request is committed. */
  async retry(caller: Caller, requestId: string, headers: object, base: string): Promise<AcceptedReply> {
    const { 'idempotency-key': key } = headerFieldsOf(SubmitHeaders, headers);
    // No model can have this name, so the fingerprint is not that of a submission.
    const name = `requests/${requestId.toLowerCase()}/retry`;
    const idempotency =
      key === undefined ? key : { key, fingerprint: fingerprintOf(name, Buffer.alloc(0), {}) };
    // A repeated call is answered as before, also if the original request was erased meanwhile.
    const before = idempotency && (await this.submissions.submittedBefore(caller.keyId, idempotency));
    if (before !== undefined) return acceptedReply(before, base);
    const row = await this.completed(caller, requestId, 'Submit it again once it has.');
    const accepted = await this.retries.submit(caller, row, { headers, idempotency });
    if (accepted === undefined)
      throw gone('The input of the request is no longer stored. Submit it again with its input.');
    return acceptedReply(accepted, base);
  }

  /** The audit has the erasure, so that it can be repeated after a restore. */
  async erase(caller: Caller, actor: Actor, requestId: string): Promise<void> {
    const { id } = await this.completed(caller, requestId, 'Cancel it first, or wait for its end.');
    const note = { action: 'request.delete', target: this.handles.handleOf(id) } as const;
    const isErased = await this.erasures.one(id, (queries) => this.trail.writeBy(queries, actor, note));
    if (!isErased) throw gone('The request was erased.');
  }

  private async completed(caller: Caller, requestId: string, advice: string): Promise<StatusRow> {
    const row = await this.requests.find(caller, requestId);
    if (row.state !== 'COMPLETED') throw notCompleted(advice);
    return row;
  }

  private async cancelIds(keyId: string, given: readonly string[]) {
    const ids = [...new Set(given)];
    const known = ids.filter(isRequestId);
    const counts = await this.cancels.many(keyId, known);
    return { ...counts, unknown: counts.unknown + ids.length - known.length, more: false };
  }

  /** Calls with many ids run one at a time per key. Several at once would keep the event loop busy. */
  private inTurn<Result>({ keyId }: Caller, ids: number, work: () => Promise<Result>): Promise<Result> {
    return ids > manyIds ? this.turns.run(keyId, work) : work();
  }

  private toStatus(row: StatusRow, base: string): object {
    return toStatus(this.queue.snapshot(row), base);
  }
}
