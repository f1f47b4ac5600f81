import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react';
import { listNewest, listRequests, requestsPath } from '../api/calls';
import { rereadRows } from '../api/shown-rows';
import type { Action, AdminRequest, RequestFilter } from '../api/types';
import { counted, whole } from '../format/quantities';
import { AsCurl } from '../parts/curl';
import { Listed } from '../parts/pages';
import { ActButton } from '../parts/rights';
import { Bones } from '../parts/states';
import { cameBack, scrollToPlace } from '../parts/travel';
import { useFilters } from '../parts/use-url-state';
import { toFilter } from '../request/filter';
import { Failures, Usual } from './found';
import { OperationDialog } from './operation-dialog';
import { Operations } from './operations';
import { Filters } from './request-filters';
import { Rows } from './request-rows';

const pageSize = 50;
const freshMs = 2_000;
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
  const list = useFound(filter);
  const count = list.data?.pages[0]?.count;
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
      {/* The key makes a list that a new link opens start with no row selected. */}
      <List key={JSON.stringify(filter)} filter={filter} list={list} />
    </main>
  );
}

/** Reads what a filter finds, page by page. */
function useFound(filter: RequestFilter) {
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
    // A reader who goes back finds the rows as they were.
    staleTime: () => (cameBack() ? Infinity : freshMs),
  });
  const { data } = list;
  const rows = useMemo(() => data?.pages.flatMap(({ data }) => data) ?? [], [data]);
  return { ...list, rows };
}

function List({ filter, list }: { filter: RequestFilter; list: ReturnType<typeof useFound> }) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<{ action: Action; filter: RequestFilter }>();
  const [followed, setFollowed] = useState<string>();
  const client = useQueryClient();
  const reread = (): void => {
    void rereadRows(client, filter);
    // Running requests were only asked to stop, so they are read again later.
    setTimeout(() => void rereadRows(client, filter), settleMs);
  };
  const { data, rows } = list;
  // React renders hundreds of rows in steps, so that the page never blocks.
  const drawn = useDeferredValue(rows, none);
  const isDrawn = drawn === rows;
  useEffect(() => {
    if (isDrawn && cameBack()) scrollToPlace();
  }, [isDrawn]);
  const failures = data?.pages[0]?.count?.failures;
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
    <>
      {failures !== undefined && <Failures failures={failures} />}
      <Newer filter={filter} shown={rows} isReady={data !== undefined} onShow={() => void list.refetch()} />
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
        <Listed list={list} bones={12} note={`${counted(rows.length, 'request')} shown`}>
          {() =>
            drawn.length === 0 && !isDrawn ? (
              <Bones rows={12} />
            ) : (
              <Rows rows={drawn} marked={marked} onToggle={toggle} hasReasons={filter.outcome === 'failed'} />
            )
          }
        </Listed>
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
    </>
  );
}

/** Rows do not move while the user reads. The number of newer requests is shown above them. */
function Newer({
  filter,
  shown,
  isReady,
  onShow,
}: {
  filter: RequestFilter;
  shown: readonly AdminRequest[];
  isReady: boolean;
  onShow: () => void;
}) {
  const first = shown[0];
  const newest = useQuery({
    queryKey: ['newer', filter, first?.request_id],
    queryFn: ({ signal }) => listNewest(filter, signal),
    enabled: isReady,
    refetchInterval: 5_000,
    initialData: undefined,
  });
  const { data } = newest;
  if (data === undefined) return null;
  // The first row shown may no longer match the filter, so the others are compared by time.
  const ids = new Set(shown.map(({ request_id }) => request_id));
  const isNew = ({ request_id, created_at }: AdminRequest): boolean =>
    !ids.has(request_id) && (first === undefined || created_at >= first.created_at);
  const count = data.data.filter(isNew).length;
  if (count === 0) return null;
  const isMany = count === data.data.length && data.next_cursor !== null;
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
