import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { disableWebhook, listDeliveries, listWebhooks } from '../api/calls';
import { query } from '../api/client';
import type { Receiver } from '../api/types';
import { whole } from '../format/quantities';
import { AsCurl } from '../parts/curl';
import { ActButton } from '../parts/rights';
import { Bones, Failure, Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Ago, Time } from '../parts/time';
import { useFilters } from '../parts/use-url-state';
import { DeliveryState, Redeliver, Tries } from './deliveries-view';

export default function Webhooks() {
  const webhooks = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => listWebhooks(signal),
    refetchInterval: 10_000,
  });
  return (
    <main className="page">
      <div className="head">
        <h1>Webhooks</h1>
        <span className="end">
          <AsCurl calls={[{ path: 'v1/admin/webhooks' }]} />
        </span>
      </div>
      <section className="card" aria-label="Endpoints">
        <Loaded query={webhooks} rows={4}>
          {({ data }) => <Endpoints rows={data} />}
        </Loaded>
      </section>
      <Deliveries />
    </main>
  );
}

function Endpoints({ rows }: { rows: readonly Receiver[] }) {
  return (
    <Table
      label="Endpoints"
      rows={rows}
      rowKey={({ id, host }) => id ?? host}
      empty="Nobody is called when requests complete."
      columns={[
        {
          title: 'Endpoint',
          cell: ({ id, url, host }) =>
            id === null ? (
              <>
                {host || 'unusual URLs'} <span className="muted small">named by requests</span>
              </>
            ) : (
              <Link data-row="" href={`/webhooks?webhook_id=${id}`}>
                {url ?? host}
              </Link>
            ),
        },
        { title: 'Key', className: 'tight', cell: ({ key }) => key?.name ?? '' },
        { title: 'Delivered, 24 h', className: 'tight number', cell: (row) => whole(row.delivered_last_day) },
        {
          title: 'Failed, 24 h',
          className: 'tight number',
          cell: ({ failed_last_day: failed }) =>
            failed === 0 ? '0' : <b className="bad">{whole(failed)}</b>,
        },
        {
          title: 'Pending',
          className: 'tight number',
          cell: ({ pending, is_pending_exact }) => `${whole(pending)}${is_pending_exact ? '' : '+'}`,
        },
        {
          title: 'Last answer',
          cell: ({ last_status, last_error, last_at }) => (
            <>
              {last_status ?? last_error ?? ''}{' '}
              <span className="muted">{last_at !== null && <Ago at={last_at} />}</span>
            </>
          ),
        },
        {
          title: 'Next try',
          className: 'tight',
          cell: ({ next_try_at }) => next_try_at && <Time at={next_try_at} />,
        },
        {
          title: '',
          className: 'tight',
          cell: ({ id, disabled_at }) => id !== null && <Switch id={id} isDisabled={disabled_at !== null} />,
        },
      ]}
    />
  );
}

function Switch({ id, isDisabled }: { id: string; isDisabled: boolean }) {
  const client = useQueryClient();
  const switching = useMutation({
    mutationFn: () => disableWebhook(id, !isDisabled),
    onSuccess: () => client.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  return (
    <>
      <ActButton disabled={switching.isPending} onClick={() => switching.mutate()}>
        {isDisabled ? 'Enable' : 'Disable'}
      </ActButton>
      {switching.error !== null && <Failure error={switching.error} />}
    </>
  );
}

const states = ['failed', 'pending', 'delivered', 'ended'] as const;

function Deliveries() {
  const [parameters, setFilters] = useFilters();
  const filter = {
    state: states.find((state) => state === parameters.get('state')),
    webhook_id: parameters.get('webhook_id') ?? '',
  };
  const list = useInfiniteQuery({
    queryKey: ['deliveries', filter],
    queryFn: ({ pageParam, signal }) => listDeliveries({ ...filter, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <section className="card stack" aria-label="Deliveries">
      <div className="row">
        <h2>Deliveries</h2>
        <label className="row">
          <span className="muted">State</span>
          <select value={filter.state ?? ''} onChange={({ target }) => setFilters({ state: target.value })}>
            <option value="">any</option>
            {states.map((state) => (
              <option key={state}>{state}</option>
            ))}
          </select>
        </label>
        {filter.webhook_id !== '' && (
          <button type="button" onClick={() => setFilters({ webhook_id: undefined })}>
            Of all endpoints
          </button>
        )}
        <span className="end">
          <AsCurl calls={[{ path: `v1/admin/deliveries${query(filter)}` }]} />
        </span>
      </div>
      {list.isPending && <Bones rows={5} />}
      {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && (
        <Table
          label="Deliveries, newest first"
          rows={rows}
          rowKey={({ id }) => id}
          empty="No delivery fits."
          columns={[
            { title: 'State', className: 'tight', cell: (delivery) => <DeliveryState delivery={delivery} /> },
            {
              title: 'Request',
              className: 'tight',
              cell: ({ request_id: id }) =>
                id && (
                  <Link className="id" href={`/requests/${id}`}>
                    {id.slice(0, 8)}…{id.slice(-4)}
                  </Link>
                ),
            },
            { title: 'Where', cell: ({ url }) => url },
            { title: 'Tries', cell: (delivery) => <Tries delivery={delivery} /> },
            { title: '', className: 'tight', cell: (delivery) => <Redeliver delivery={delivery} /> },
          ]}
        />
      )}
      {list.hasNextPage && (
        <div>
          <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show older ones
          </button>
        </div>
      )}
    </section>
  );
}
