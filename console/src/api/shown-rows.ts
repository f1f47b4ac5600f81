import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { listRequests } from './calls';
import type { AdminRequest, FoundCount, RequestFilter } from './types';

interface Page {
  data: AdminRequest[];
  count?: FoundCount;
}
type Pages = InfiniteData<Page>;

const pageSize = 100;
/** There may be more requests between the first and the last row shown than rows shown. */
const maxPages = 5;

/** Updates rows in place. No row is added, removed or moved while the user reads. */
export function withRows(list: Pages, fresh: readonly AdminRequest[], count?: FoundCount): Pages {
  const byId = new Map(fresh.map((row) => [row.request_id, row]));
  return {
    ...list,
    pages: list.pages.map((page, i) => ({
      ...page,
      ...(i === 0 && count !== undefined && { count }),
      data: page.data.map((row) => {
        const next = byId.get(row.request_id);
        return next === undefined ? row : { ...row, ...next };
      }),
    })),
  };
}

/** Updates the row of one request in all cached lists. */
export function showRow(client: QueryClient, row: AdminRequest): void {
  client.setQueriesData<Pages>({ queryKey: ['requests'] }, (list) => list && withRows(list, [row]));
}

/**
 * Reads the shown rows again, even those that no longer match the filter, and the number of requests that match it now.
 */
export async function rereadRows(client: QueryClient, filter: RequestFilter): Promise<void> {
  const queryKey = ['requests', filter];
  const rows = client.getQueryData<Pages>(queryKey)?.pages.flatMap(({ data }) => data) ?? [];
  if (rows.length === 0) return;
  const times = rows.map(({ created_at }) => Date.parse(created_at));
  // Times are truncated to milliseconds.
  const between: RequestFilter = {
    ...withoutState(filter),
    created_after: new Date(Math.min(...times)).toISOString(),
    created_before: new Date(Math.max(...times) + 1).toISOString(),
  };
  const [found, fresh] = await Promise.all([
    listRequests(filter, { limit: 1, cursor: '' }),
    readAll(between, rows.length),
  ]);
  client.setQueryData<Pages>(queryKey, (list) => list && withRows(list, fresh, found.count));
}

async function readAll(filter: RequestFilter, atLeast: number): Promise<AdminRequest[]> {
  const pages = Math.min(maxPages, Math.ceil(atLeast / pageSize) + 1);
  const fresh: AdminRequest[] = [];
  let cursor: string | null = '';
  for (let i = 0; i < pages && cursor !== null; i++) {
    const page: { data: AdminRequest[]; next_cursor: string | null } = await listRequests(
      i === 0 ? filter : {},
      i === 0 ? { limit: pageSize, cursor } : { cursor },
    );
    fresh.push(...page.data);
    cursor = page.next_cursor;
  }
  return fresh;
}

function withoutState(filter: RequestFilter): RequestFilter {
  const other = { ...filter };
  for (const name of ['status', 'outcome', 'code'] as const) delete other[name];
  return other;
}
