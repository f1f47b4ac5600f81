import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react';
import { listNewest, listRequests, requestsPath } from '../api/calls';
import { rereadRows } from '../api/shown-rows';
import type { Action, AdminRequest, RequestFilter } from '../api/types';
import { counted, whole } from '../format/quantities';
import { AsCurl } from '../parts/curl';
import { ActButton } from '../parts/rights';
import { Bones, Failure } from '../parts/states';
import { cameBack, scrollToPlace } from '../parts/travel';
import { useFilters } from '../parts/use-url-state';
import { toFilter } from '../request/filter';
import { Failures, Usual } from './found';
import { OperationDialog } from './operation-dialog';
import { Operations } from './operations';
import { Filters } from './request-filters';
import { Rows } from './request-rows';

const pageSize = 50;
const settleMs = 3_000;
const none: readonly AdminRequest[] = [];
const actions: [Action, string][] = [
  ['cancel', 'Cancel'],
  ['retry', 'Retry'],
  ['erase', 'Erase'],
];

export default function Requests() {
  const [parameters] = useFilters();
  const filter = toFilter(parameters);
  // The key makes a list that a new link opens start with no row selected.
  return <List key={JSON.stringify(filter)} filter={filter} />;
}

function List({ filter }: { filter: RequestFilter }) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<{ action: Action; filter: RequestFilter }>();
  const [followed, setFollowed] = useState<string>();
  const list = useInfiniteQuery({
    queryKey: ['requests', filter],
    queryFn: ({ pageParam, signal }) =>
      listRequests(
        pageParam === undefined ? filter : {},
        { limit: pageSize, cursor: pageParam ?? '' },
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchOnWindowFocus: false,
    refetchOnMount: () => !cameBack(),
  });
  const client = useQueryClient();
  const reread = (): void => {
    void rereadRows(client, filter);
    // Running requests were only asked to stop, so they are read again later.
    setTimeout(() => void rereadRows(client, filter), settleMs);
  };
  const { data } = list;
  const rows = useMemo(() => data?.pages.flatMap(({ data }) => data) ?? [], [data]);
  // React renders hundreds of rows in steps, so that the page never blocks.
  const drawn = useDeferredValue(rows, none);
  const isDrawn = drawn === rows;
  useEffect(() => {
    if (isDrawn && cameBack()) scrollToPlace();
  }, [isDrawn]);
  const count = data?.pages[0]?.count;
  const toggle = useCallback(
    (id: string): void =>
      setMarked((before) => {
        const next = new Set(before);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [],
  );
  const isAllMarked = rows.length > 0 && rows.every(({ request_id }) => marked.has(request_id));
  return (
    <main className="page">
      <div className="head">
        <h1>Requests</h1>
        <span className="muted">
          {count === undefined ? '' : `${whole(count.value)}${count.is_exact ? '' : '+'} found`}
        </span>
        <span className="end">
          <AsCurl calls={[{ path: requestsPath(filter, { limit: pageSize }) }]} />
          <button type="button" disabled={list.isFetching} onClick={() => void list.refetch()}>
            Refresh
          </button>
        </span>
      </div>
      <Filters />
      <Usual filter={filter} />
      {count?.failures !== undefined && <Failures failures={count.failures} />}
      <Newer filter={filter} first={rows[0]} isReady={list.isSuccess} onShow={() => void list.refetch()} />
      <Operations followed={followed} onEnded={reread} />
      <div className="row">
        <label className="choice">
          <input
            type="checkbox"
            checked={isAllMarked}
            disabled={rows.length === 0}
            onChange={() => setMarked(new Set(isAllMarked ? [] : rows.map(({ request_id }) => request_id)))}
          />
          <span>{marked.size === 0 ? 'Select all shown' : `${whole(marked.size)} selected`}</span>
        </label>
        <span className="end">
          {actions.map(([action, verb]) => (
            <ActButton
              key={action}
              disabled={rows.length === 0}
              onClick={() => setAsked({ action, filter: marked.size === 0 ? filter : { ids: [...marked] } })}
            >
              <span>
                {verb} {marked.size === 0 ? 'all' : whole(marked.size)}
                <span className="more">{marked.size === 0 ? ' found' : ' selected'}</span>…
              </span>
            </ActButton>
          ))}
        </span>
      </div>
      <section className="card" aria-label="Requests">
        {(list.isPending || (drawn.length === 0 && !isDrawn)) && <Bones rows={12} />}
        {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
        {list.isSuccess && (drawn.length > 0 || isDrawn) && (
          <Rows rows={drawn} marked={marked} onToggle={toggle} hasReasons={filter.outcome === 'failed'} />
        )}
        {list.hasNextPage && (
          <div className="row">
            <button
              type="button"
              disabled={list.isFetchingNextPage}
              onClick={() => void list.fetchNextPage()}
            >
              {list.isFetchingNextPage ? 'Loading…' : 'Show older'}
            </button>
            <span className="muted">{counted(rows.length, 'request')} shown</span>
          </div>
        )}
      </section>
      {asked !== undefined && (
        <OperationDialog
          {...asked}
          onClose={() => setAsked(undefined)}
          onStarted={({ id }) => {
            setAsked(undefined);
            setMarked(new Set());
            setFollowed(id);
          }}
        />
      )}
    </main>
  );
}

/** Rows do not move while the user reads. The number of newer requests is shown above them. */
function Newer({
  filter,
  first,
  isReady,
  onShow,
}: {
  filter: RequestFilter;
  first: AdminRequest | undefined;
  isReady: boolean;
  onShow: () => void;
}) {
  const newest = useQuery({
    queryKey: ['newer', filter, first?.request_id],
    queryFn: ({ signal }) => listNewest(filter, signal),
    enabled: isReady,
    refetchInterval: 5_000,
    initialData: undefined,
  });
  const { data } = newest;
  if (data === undefined) return null;
  const at = data.data.findIndex(({ request_id }) => request_id === first?.request_id);
  const isMany = at === -1 && data.data.length > 0 && first !== undefined;
  const count = at === -1 ? data.data.length : at;
  if (count === 0) return null;
  return (
    <div className="notice" role="status">
      <span>{isMany ? `${count} or more` : count} new</span>
      <span className="end">
        <button type="button" onClick={onShow}>
          Show
        </button>
      </span>
    </div>
  );
}
