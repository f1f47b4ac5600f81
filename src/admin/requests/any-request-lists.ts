import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { Handles } from '../../auth/handles.js';
import { DomainError } from '../../errors/domain-error.js';
import { AllRequests, maxCounted } from '../../queue/all-requests.js';
import type { AnyRequestFilter } from '../../queue/request-filter.js';
import { QueueService } from '../../queue/queue.service.js';
import { isRequestId } from '../../queue/submit/request-id.js';
import { isOption } from '../../http/input/option.js';
import { defaultLimit } from '../../http/input/page.js';
import { type AnyRequestView, RequestViews } from './any-request-view.js';
import { BoundedCache } from '../../tools/bounded-cache.js';
import { SharedReads } from '../../tools/shared-reads.js';
import { anyListOptions } from './any-list.query.js';
import type { FoundCountDto } from './dto.js';

type Count = Awaited<ReturnType<AllRequests['count']>>;

interface Page {
  data: AnyRequestView[];
  next_cursor: string | null;
  /** Only on the first page. */
  count?: FoundCountDto;
}

/** A result is kept this long for tabs that ask for the same at about the same time. */
const maxAgeMs = 10_000;

/** Lists of the requests of all keys. */
@Injectable()
export class AnyRequestLists {
  private readonly first = new SharedReads<[Awaited<ReturnType<AllRequests['list']>>, Count]>(maxAgeMs);
  /** Counts at the maximum, by the filter of their list: a page more or less makes no difference to them. */
  private readonly large = new BoundedCache<Count>(100);

  constructor(
    private readonly all: AllRequests,
    private readonly queue: QueueService,
    private readonly handles: Handles,
  ) {}

  /** `ageMs`: how old a first page may be. */
  async page(caller: Caller, query: object, ageMs = 0): Promise<Page> {
    const given = anyListOptions(query, caller, this.handles);
    const from = given.cursor === undefined ? undefined : this.decode(given.cursor);
    const begun = from === undefined ? given : anyListOptions(from.query, caller, this.handles);
    const isChanged = written(given.filter) !== '{}' && written(given.filter) !== written(begun.filter);
    if (from !== undefined && isChanged) {
      const detail =
        'The option "cursor" already has the filters of its list. Send it alone, or start the list again.';
      throw new DomainError('invalid_query', detail);
    }
    const limit = given.limit ?? begun.limit ?? defaultLimit;
    const [{ rows, lastId }, count] =
      from === undefined
        ? await this.first.get(written([begun.filter, limit]), ageMs, () =>
            Promise.all([this.all.list(begun.filter, { limit }), this.count(begun.filter)]),
          )
        : [await this.all.list(begun.filter, { before: from.lastId, limit })];
    const views = new RequestViews(caller, this.handles);
    return {
      data: rows.map((row) => views.request(row, this.queue.snapshot(row))),
      next_cursor:
        lastId === null ? null : this.encode({ ...(from?.query ?? query), limit: String(limit) }, lastId),
      ...(count !== undefined && { count: toCount(count) }),
    };
  }

  /** Returns how many requests there are, at least, and some of them. */
  async sample(caller: Caller, filter: AnyRequestFilter, limit: number) {
    const [{ value, isExact }, { rows }] = await Promise.all([
      this.all.count(filter),
      this.all.list(filter, { limit }),
    ]);
    const views = new RequestViews(caller, this.handles);
    const sample = rows.map((row) => views.request(row, this.queue.snapshot(row)));
    return { count: { value, is_exact: isExact }, sample };
  }

  private async count(filter: AnyRequestFilter): Promise<Count> {
    const [name, now] = [written(filter), performance.now()];
    const known = this.large.get(name, now);
    if (known !== undefined) return known;
    const count = await this.all.count(filter);
    if (count.value === maxCounted && count.failures === undefined)
      this.large.set(name, count, now + maxAgeMs);
    return count;
  }

  /** The position is a handle, because a cursor must show no id. */
  private encode(query: object, lastId: string): string {
    const options = Object.fromEntries(
      Object.entries(query).filter(([name, value]) => name !== 'cursor' && isOption(value)),
    );
    return Buffer.from(JSON.stringify([this.handles.handleOf(lastId), options])).toString('base64url');
  }

  private decode(cursor: string): { query: object; lastId: string } {
    try {
      const [handle, query] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, object];
      const lastId = this.handles.idOf(handle);
      if (isRequestId(lastId) && typeof query === 'object' && query !== null) return { query, lastId };
    } catch {
      // Thrown below.
    }
    throw new DomainError(
      'invalid_query',
      'The option "cursor" is not one that this list returned. Start the list again.',
    );
  }
}

const written = (filter: unknown): string => JSON.stringify(filter);

function toCount({ value, isExact, failures }: Count): FoundCountDto {
  const told = failures?.map(({ modelId, code, count, message, lastAt }) => {
    return { model_id: modelId, code, count, message, last_at: lastAt.toISOString() };
  });
  return { value, is_exact: isExact, ...(told !== undefined && { failures: told }) };
}
