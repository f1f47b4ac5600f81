import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { Handles } from '../../auth/handles.js';
import { OperatorRequests, maxCounted } from '../../queue/reads/operator-requests.js';
import type { OperatorFilter } from '../../queue/reads/request-filter.js';
import { QueueService } from '../../queue/queue.service.js';
import { isRequestId } from '../../queue/submit/request-id.js';
import type { Page } from '../../http/input/page.js';
import { AdminRequestViews } from './request-view.js';
import { BoundedCache } from '../../tools/bounded-cache.js';
import { SharedReads } from '../../tools/shared-reads.js';
import { type AdminListQuery, toOperatorFilter } from './list.query.js';
import type { FoundCountDto } from './requests.dto.js';

type Count = Awaited<ReturnType<OperatorRequests['count']>>;

/** A result is kept this long for tabs that ask for the same at about the same time. */
const maxAgeMs = 10_000;

/** Lists of the requests of all keys. */
@Injectable()
export class AdminRequestLists {
  private readonly first = new SharedReads<[Awaited<ReturnType<OperatorRequests['list']>>, Count]>(maxAgeMs);
  /** Counts at the maximum, by the filter of their list: a page more or less makes no difference to them. */
  private readonly large = new BoundedCache<Count>(100);

  constructor(
    private readonly all: OperatorRequests,
    private readonly queue: QueueService,
    private readonly handles: Handles,
  ) {}

  /** `ageMs`: how old a first page may be. */
  async list(caller: Caller, page: Page<AdminListQuery>, ageMs: number) {
    const { query, limit } = page;
    const filter = toOperatorFilter(query, caller, this.handles);
    // The position is a handle, because a cursor must show no id.
    const before = page.after((handle) => {
      const id = this.handles.idOf(handle);
      return isRequestId(id) ? id : undefined;
    });
    const [{ rows, lastId }, count] =
      before === undefined
        ? await this.first.get(written([filter, limit]), ageMs, () =>
            Promise.all([this.all.list(filter, { limit }), this.count(filter)]),
          )
        : [await this.all.list(filter, { before, limit })];
    const views = new AdminRequestViews(caller, this.handles);
    const answer = page.until(rows, lastId && this.handles.handleOf(lastId), (row) =>
      views.request(row, this.queue.snapshot(row)),
    );
    // Only on the first page.
    return { ...answer, ...(count !== undefined && { count: toCount(count) }) };
  }

  /** Returns the number of requests, or a lower bound of it, and the newest of them. */
  async sample(caller: Caller, filter: OperatorFilter, limit: number) {
    const [{ value, isExact }, { rows }] = await Promise.all([
      this.all.count(filter),
      this.all.list(filter, { limit }),
    ]);
    const views = new AdminRequestViews(caller, this.handles);
    const sample = rows.map((row) => views.request(row, this.queue.snapshot(row)));
    return { count: { value, is_exact: isExact }, sample };
  }

  private async count(filter: OperatorFilter): Promise<Count> {
    const [name, now] = [written(filter), performance.now()];
    const known = this.large.get(name, now);
    if (known !== undefined) return known;
    const count = await this.all.count(filter);
    if (count.value === maxCounted && count.failures === undefined)
      this.large.set(name, count, now + maxAgeMs);
    return count;
  }
}

const written = (filter: unknown): string => JSON.stringify(filter);

function toCount({ value, isExact, failures }: Count): FoundCountDto {
  const shown = failures?.map(({ modelId, code, count, message, lastAt }) => {
    return { model_id: modelId, code, count, message, last_at: lastAt.toISOString() };
  });
  return { value, is_exact: isExact, ...(shown !== undefined && { failures: shown }) };
}
