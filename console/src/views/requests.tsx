import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { listOperations, listRequests, requestPath, requestsPath } from '../api/calls';
import { serviceAddress } from '../api/base';
import type { Action, AdminRequest, RequestFilter } from '../api/types';
import { counted, duration, whole } from '../format/quantities';
import { CopyButton } from '../parts/copy';
import { AsCurl } from '../parts/curl';
import { codeOf, shownState, State } from '../parts/request-state';
import { ActButton, useMay } from '../parts/rights';
import { Bones, Failure } from '../parts/states';
import { type Column, Table } from '../parts/table';
import { Ago } from '../parts/time';
import { useFilters } from '../parts/use-url-state';
import { toFilter } from '../request/filter';
import { OperationDialog, OperationProgress } from './operations';
import { Filters } from './request-filters';

const pageSize = 50;
const actions: [Action, string][] = [
  ['cancel', 'Cancel'],
  ['retry', 'Retry'],
  ['erase', 'Erase'],
];

export default function Requests() {
  const [parameters] = useFilters();
  const filter = toFilter(parameters);
  // A link that leads here again begins with nothing marked.
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
  });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const count = list.data?.pages[0]?.count;
  const toggle = (id: string): void =>
    setMarked((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
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
        </span>
      </div>
      <Filters />
      <Newer filter={filter} first={rows[0]} isReady={list.isSuccess} onShow={() => void list.refetch()} />
      <Operations followed={followed} />
      <div className="row">
        <label className="choice">
          <input
            type="checkbox"
            checked={isAllMarked}
            disabled={rows.length === 0}
            onChange={() => setMarked(new Set(isAllMarked ? [] : rows.map(({ request_id }) => request_id)))}
          />
          <span>{marked.size === 0 ? 'Mark all shown' : `${whole(marked.size)} marked`}</span>
        </label>
        <span className="end">
          {actions.map(([action, verb]) => (
            <ActButton
              key={action}
              disabled={rows.length === 0}
              onClick={() => setAsked({ action, filter: marked.size === 0 ? filter : { ids: [...marked] } })}
            >
              {verb} {marked.size === 0 ? 'all found…' : `${whole(marked.size)} marked…`}
            </ActButton>
          ))}
        </span>
      </div>
      <section className="card" aria-label="Requests">
        {list.isPending && <Bones rows={12} />}
        {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
        {list.isSuccess && <Rows rows={rows} marked={marked} onToggle={toggle} />}
        {list.hasNextPage && (
          <div className="row">
            <button
              type="button"
              disabled={list.isFetchingNextPage}
              onClick={() => void list.fetchNextPage()}
            >
              {list.isFetchingNextPage ? 'Reading…' : 'Show older ones'}
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

interface RowsProps {
  rows: readonly AdminRequest[];
  marked: ReadonlySet<string>;
  onToggle: (id: string) => void;
}

function Rows({ rows, marked, onToggle }: RowsProps) {
  const [, navigate] = useLocation();
  const seesPictures = useMay('payloads');
  const columns: Column<AdminRequest>[] = [
    {
      title: 'Mark',
      className: 'tight',
      cell: ({ request_id: id }) => (
        <input
          type="checkbox"
          aria-label={`Mark ${id}`}
          checked={marked.has(id)}
          onChange={() => onToggle(id)}
        />
      ),
    },
    {
      title: 'Request',
      className: 'tight',
      cell: ({ request_id: id }) => (
        <span className="copy">
          <Link
            href={`/requests/${id}`}
            className="id"
            data-row=""
            title={id}
            onKeyDown={(event) => {
              if (event.key === 'Enter') navigate(`/requests/${id}`);
            }}
          >
            {id.slice(0, 8)}…{id.slice(-4)}
          </Link>
          <CopyButton text={id} />
        </span>
      ),
    },
    {
      title: 'State',
      className: 'tight',
      cell: (request) => <State state={shownState(request)} note={codeOf(request)} />,
    },
    {
      title: 'Model',
      className: 'cut',
      cell: ({ model_id }) => <Link href={`/models/${model_id}`}>{model_id}</Link>,
    },
    { title: 'Key', className: 'tight', cell: ({ key }) => key.name ?? '–' },
    { title: 'Node', className: 'tight', cell: ({ node }) => node ?? '' },
    { title: 'Submitted', className: 'tight', cell: ({ created_at }) => <Ago at={created_at} /> },
    { title: 'Waited', className: 'tight number', cell: ({ metrics }) => seconds(metrics.queue_time) },
    { title: 'Ran', className: 'tight number', cell: ({ metrics }) => seconds(metrics.inference_time) },
  ];
  if (seesPictures && rows.some(isPicture)) {
    columns.push({
      title: 'Output',
      className: 'tight',
      cell: (request) =>
        isPicture(request) && (
          <img
            className="thumb"
            loading="lazy"
            decoding="async"
            alt=""
            src={serviceAddress(`${requestPath(request.request_id)}/picture`)}
          />
        ),
    });
  }
  return (
    <Table
      label="Requests, newest first"
      columns={columns}
      rows={rows}
      rowKey={({ request_id }) => request_id}
      isSelected={({ request_id }) => marked.has(request_id)}
      empty="No request fits these filters."
    />
  );
}

const isPicture = ({ output_type: type }: AdminRequest): boolean => type?.startsWith('image/') ?? false;
const seconds = (value: number | null | undefined): string =>
  typeof value === 'number' ? duration(value * 1_000) : '';

/** Rows do not jump under the reader: what came since is a number above them. */
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
    queryFn: ({ signal }) => listRequests(filter, { limit: 20 }, signal),
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
          Show them
        </button>
      </span>
    </div>
  );
}

/** Those that go on, and the one that was just started. */
function Operations({ followed }: { followed: string | undefined }) {
  const operations = useQuery({
    queryKey: ['operations', followed],
    queryFn: ({ signal }) => listOperations(signal),
  });
  const shown =
    operations.data?.data.filter(({ id, ended_at }) => id === followed || ended_at === null) ?? [];
  return shown.map((operation) => <OperationProgress key={operation.id} operation={operation} />);
}
