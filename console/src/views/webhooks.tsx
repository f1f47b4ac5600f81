import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { changeWebhook, listDeliveries, listWebhooks } from '../api/calls';
import { query } from '../api/client';
import type { Receiver } from '../api/types';
import { whole } from '../format/quantities';
import { ConfirmedAction } from '../parts/confirmed-action';
import { AsCurl } from '../parts/curl';
import { Listed, useList } from '../parts/pages';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';
import { Table } from '../parts/table';
import { Ago, Time } from '../parts/time';
import { useFilters } from '../parts/use-url-state';
import { DeliveryState, Redeliver, Tries } from './deliveries-view';

export default function Webhooks() {
  const webhooks = useList(['webhooks'], listWebhooks, { refetchInterval: 30_000 });
  return (
    <main className="page">
      <div className="head">
        <h1>Webhooks</h1>
        <span className="end">
          <AsCurl calls={[{ path: 'v1/admin/webhooks' }]} />
        </span>
      </div>
      <section className="card stack" aria-label="Endpoints">
        <div className="row">
          <h2>Endpoints</h2>
          <span className="muted">Counts of the last 24 h, except pending.</span>
        </div>
        <Listed list={webhooks} bones={4}>
          {(rows) => <Endpoints rows={rows} />}
        </Listed>
      </section>
      <Deliveries />
    </main>
  );
}

function Endpoints({ rows }: { rows: readonly Receiver[] }) {
  return (
    <Table
      label="Endpoints"
      cardsBelow={1000}
      rows={rows}
      rowKey={({ id, host }) => id ?? host}
      empty="No webhook receivers."
      columns={[
        {
          title: 'Endpoint',
          cell: ({ id, url, host, events, disabled_at }) =>
            id === null ? (
              <>
                {host || 'other URLs'} <span className="muted small">named by requests</span>
              </>
            ) : (
              <>
                <Link data-row="" href={`/webhooks?webhook_id=${id}`}>
                  {url ?? host}
                </Link>{' '}
                <span className="muted small">{events?.join(', ')}</span>{' '}
                {disabled_at !== null && (
                  <span className="chip warn">
                    disabled <Ago at={disabled_at} />
                  </span>
                )}
              </>
            ),
        },
        { title: 'Key', className: 'tight', cell: ({ key }) => key?.name ?? '' },
        { title: 'Delivered', className: 'tight number', cell: (row) => whole(row.delivered_last_day) },
        {
          title: 'Given up',
          className: 'tight number',
          cell: ({ failed_last_day: failed }) =>
            failed === 0 ? '0' : <b className="bad">{whole(failed)}</b>,
        },
        {
          title: 'Failed tries',
          className: 'tight number',
          cell: ({ failed_tries_last_day: failed }) =>
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
          cell: (row) => row.id !== null && <Switch given={row} />,
        },
      ]}
    />
  );
}

function Switch({ given: { id, url, host, pending, is_pending_exact, disabled_at } }: { given: Receiver }) {
  const client = useQueryClient();
  const reread = () => client.invalidateQueries({ queryKey: ['webhooks'] });
  const enabling = useMutation({
    mutationFn: () => changeWebhook(id!, { disabled: false }),
    onSuccess: reread,
  });
  const waiting = `${whole(pending)}${is_pending_exact ? '' : ' or more'}`;
  return (
    <>
      {disabled_at !== null ? (
        <ActButton className="primary" disabled={enabling.isPending} onClick={() => enabling.mutate()}>
          Enable
        </ActButton>
      ) : (
        <ConfirmedAction
          label="Disable…"
          title={`Disable ${url ?? host}?`}
          verb="Disable this endpoint"
          isDanger
          act={(reason) => changeWebhook(id!, { disabled: true, ...reason })}
          onDone={reread}
        >
          New events are not sent to this endpoint, not even after you enable it again. {waiting} pending{' '}
          {pending === 1 ? 'delivery continues' : 'deliveries continue'}.
        </ConfirmedAction>
      )}
      {enabling.error !== null && <Failure error={enabling.error} />}
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
  const list = useList(['deliveries', filter], (cursor, signal) =>
    listDeliveries({ ...filter, cursor: cursor ?? '' }, signal),
  );
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
            Show all endpoints
          </button>
        )}
        <span className="end">
          <AsCurl calls={[{ path: `v1/admin/deliveries${query(filter)}` }]} />
        </span>
      </div>
      <Listed list={list} bones={5}>
        {(rows) => (
          <Table
            label="Deliveries, newest first"
            cardsBelow={1000}
            rows={rows}
            rowKey={({ id }) => id}
            empty="No delivery matches."
            columns={[
              {
                title: 'State',
                className: 'tight',
                cell: (delivery) => <DeliveryState delivery={delivery} />,
              },
              {
                title: 'Request',
                className: 'tight',
                cell: ({ request_id: id }) =>
                  id && (
                    <Link className="id" data-row="" href={`/requests/${id}`}>
                      {id.slice(0, 8)}…{id.slice(-4)}
                    </Link>
                  ),
              },
              { title: 'Event', className: 'tight', cell: ({ event }) => event },
              { title: 'URL', className: 'wraps', cell: ({ url }) => url },
              { title: 'Tries', cell: (delivery) => <Tries delivery={delivery} /> },
              { title: '', className: 'tight', cell: (delivery) => <Redeliver delivery={delivery} /> },
            ]}
          />
        )}
      </Listed>
    </section>
  );
}
