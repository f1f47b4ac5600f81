import { useQuery } from '@tanstack/react-query';
import { type CSSProperties, lazy, Suspense, useState } from 'react';
import { Link } from 'wouter';
import { listModels, readQueue, readShares } from '../api/calls';
import { useLive } from '../api/live';
import type { AdminModel, QueueEntry, Share, TypicalTime } from '../api/types';
import { duration, ofSlots, percent, rate, whole } from '../format/quantities';
import { AsCurl } from '../parts/curl';
import { Reach } from '../parts/reach';
import { Bones, Failure, Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Ago, Since, Time } from '../parts/time';
import { keyColour } from './key-colours';
import { ModelActions } from './model-actions';
import { ModelName } from './overview';
import { Plate, plateState, Slots } from './plate';
import { Strip } from './strip';
import { Trouble } from './trouble';

const HourChart = lazy(() => import('./hour-chart'));

export default function ModelView({ id }: { id: string }) {
  const { overview } = useLive();
  const models = useQuery({ queryKey: ['models'], queryFn: ({ signal }) => listModels(signal) });
  const all = overview?.models ?? models.data?.data;
  const model = all?.find((one) => one.id === id);
  return (
    <main className="page">
      <div className="head">
        <h1>
          <ModelName id={id} />
        </h1>
        <span className="end">
          <AsCurl calls={[{ path: `v1/admin/models/${id}`, what: 'The model, its nodes, its last hour' }]} />
          {model !== undefined && <ModelActions model={model} />}
          <Link className="button" href={`/try/${id}`}>
            Try it
          </Link>
        </span>
      </div>
      {model !== undefined && <Known model={model} />}
      {model === undefined && all !== undefined && (
        <p className="notice warn">There is no model {id}. It may have left models.yaml.</p>
      )}
      {all === undefined && models.error !== null && (
        <Failure error={models.error} onRetry={() => void models.refetch()} />
      )}
      {all === undefined && models.error === null && <Bones rows={8} />}
    </main>
  );
}

function Known({ model }: { model: AdminModel }) {
  const { id } = model;
  const queue = useQuery({
    queryKey: ['queue', id],
    queryFn: ({ signal }) => readQueue(id, signal),
    refetchInterval: 3_000,
  });
  const shares = useQuery({
    queryKey: ['shares', id],
    queryFn: ({ signal }) => readShares(id, signal),
    refetchInterval: 5_000,
  });
  return (
    <>
      {model.description && <p className="muted">{model.description}</p>}
      <Trouble model={model} />
      <section className="card model" aria-label="Now">
        <Plate value={model.started_today} label="started today" state={plateState(model)} />
        <div className="model-body">
          <dl className="figures">
            <div>
              <dt>{ofSlots(model.concurrency.current)}running</dt>
              <dd>
                <Slots running={model.running} slots={model.concurrency.current} />
                {whole(model.running)}
              </dd>
            </div>
            <div>
              <dt>waiting</dt>
              <dd className="big">{whole(model.waiting)}</dd>
            </div>
            {model.held > 0 && (
              <div>
                <dt>held by their keys</dt>
                <dd>{whole(model.held)}</dd>
              </div>
            )}
            {model.delayed > 0 && (
              <div>
                <dt>scheduled or pausing</dt>
                <dd>{whole(model.delayed)}</dd>
              </div>
            )}
            {model.oldest_waiting_at !== null && model.waiting > 0 && (
              <div>
                <dt>the oldest waits</dt>
                <dd>
                  <Since at={model.oldest_waiting_at} />
                </dd>
              </div>
            )}
            <div>
              <dt>started</dt>
              <dd>{rate(model.started_per_second)}</dd>
            </div>
            <Typical name="a run" time={model.run_time} />
            <Typical name="a wait" time={model.queue_time} />
            <div>
              <dt>failed in the last hour</dt>
              <dd className={model.failed_last_hour > 0 ? 'bad' : undefined}>
                <Link href={`/requests?model_id=${encodeURIComponent(id)}&outcome=failed`}>
                  {whole(model.failed_last_hour)}
                </Link>
              </dd>
            </div>
          </dl>
          {model.queue !== undefined && <Strip model={model} />}
        </div>
      </section>
      <section className="card stack" aria-label="The last hour">
        <h2>The last hour</h2>
        <Suspense fallback={<Bones rows={4} />}>
          <HourChart history={model.history} />
        </Suspense>
      </section>
      <section className="card stack" aria-label="Queue">
        <div className="row">
          <h2>Who stands where</h2>
          <span className="end">
            <AsCurl calls={[{ path: `v1/admin/queue?model=${encodeURIComponent(id)}` }]} />
          </span>
        </div>
        <Loaded query={queue} rows={6}>
          {({ data, next_cursor }) => (
            <>
              <QueueTable rows={data} />
              {next_cursor !== null && (
                <Link href={`/requests?model_id=${encodeURIComponent(id)}&status=IN_QUEUE`}>
                  All that wait
                </Link>
              )}
            </>
          )}
        </Loaded>
      </section>
      <section className="card stack" aria-label="Shares">
        <div className="row">
          <h2>Who gets how much</h2>
          <span className="end">
            <AsCurl calls={[{ path: `v1/admin/shares?model=${encodeURIComponent(id)}` }]} />
          </span>
        </div>
        <Loaded query={shares}>{({ data }) => <Shares rows={data} />}</Loaded>
      </section>
      <Nodes model={model} />
    </>
  );
}

function Typical({ name, time }: { name: string; time: TypicalTime | null | undefined }) {
  if (!time) return null;
  return (
    <div>
      <dt>{name}, median · 95 %</dt>
      <dd>
        {duration(time.p50 * 1_000)} · {duration(time.p95 * 1_000)}
      </dd>
    </div>
  );
}

const KeyName = ({ id, name }: { id: string; name: string | null }) => (
  <span className="legend">
    <span>
      <i style={{ '--key': keyColour(id) } as CSSProperties} />
      {name || 'a key that was removed'}
    </span>
  </span>
);

const shownAtFirst = 16;

function QueueTable({ rows: all }: { rows: readonly QueueEntry[] }) {
  const [isWhole, setWhole] = useState(false);
  const rows = isWhole ? all : all.slice(0, shownAtFirst);
  return (
    <>
      <Table
        label="Queue"
        rows={rows}
        rowKey={({ request_id }) => request_id}
        empty="Nothing runs and nobody waits."
        columns={[
          {
            title: 'Position',
            className: 'tight',
            cell: ({ position, state }) =>
              state === 'running' ? (
                <span className="state" data-state="running">
                  ● now
                </span>
              ) : (
                (position ?? <span className="muted">{state}</span>)
              ),
          },
          {
            title: 'Request',
            className: 'tight',
            cell: ({ request_id }) => (
              <Link className="id" data-row="" href={`/requests/${request_id}`} title={request_id}>
                {request_id.slice(0, 8)}…{request_id.slice(-4)}
              </Link>
            ),
          },
          { title: 'Key', cell: ({ key }) => <KeyName {...key} /> },
          { title: 'Priority', className: 'tight', cell: ({ priority }) => priority },
          { title: 'Node', className: 'tight', cell: ({ node }) => node ?? '' },
          {
            title: 'For',
            className: 'tight number',
            cell: ({ since, started_at, not_before }) =>
              not_before ? <Time at={not_before} /> : <Since at={started_at ?? since} />,
          },
        ]}
      />
      {all.length > rows.length && (
        <div>
          <button type="button" onClick={() => setWhole(true)}>
            Show all {all.length}
          </button>
        </div>
      )}
    </>
  );
}

function Shares({ rows }: { rows: readonly Share[] }) {
  return (
    <Table
      label="Shares of capacity"
      rows={rows}
      rowKey={({ key }) => key.id}
      empty="Nobody used it in the last hour."
      columns={[
        { title: 'Key', cell: ({ key }) => <KeyName {...key} /> },
        { title: 'Weight', className: 'tight number', cell: ({ weight }) => weight },
        { title: 'Waiting', className: 'tight number', cell: ({ waiting }) => whole(waiting) },
        {
          title: 'Running',
          className: 'tight number',
          cell: ({ running, max_running }) => `${running}${max_running === null ? '' : ` of ${max_running}`}`,
        },
        {
          title: 'Now',
          className: 'tight',
          cell: ({ share_now }) => <Part share={share_now} name="of what runs" />,
        },
        {
          title: 'Last hour',
          className: 'tight',
          cell: ({ share_last_hour }) => <Part share={share_last_hour} name="of the last hour" />,
        },
        {
          title: 'Started',
          className: 'tight number',
          cell: ({ starts_last_hour }) => whole(starts_last_hour),
        },
        {
          title: 'Ran',
          className: 'tight number',
          cell: ({ run_seconds_last_hour }) => duration(run_seconds_last_hour * 1_000),
        },
      ]}
    />
  );
}

function Part({ share, name }: { share: number | null; name: string }) {
  if (share === null) return <span className="muted">–</span>;
  return (
    <span className="part">
      <span style={{ width: `${Math.min(100, share * 100)}%` }} />
      <b title={name}>{percent(share)}</b>
    </span>
  );
}

function Nodes({ model }: { model: AdminModel }) {
  return (
    <section className="card stack" aria-label="Nodes">
      <h2>Nodes</h2>
      <Table
        label="Nodes and slots"
        rows={model.nodes}
        rowKey={({ name }) => name}
        empty="No node runs it."
        columns={[
          { title: 'Node', cell: ({ name }) => <Link href="/nodes">{name}</Link> },
          {
            title: 'Slots',
            className: 'tight',
            cell: ({ slots, running }) => (
              <>
                <Slots running={running} slots={slots} />
                {running} of {slots}
              </>
            ),
          },
          {
            title: 'Reaches it',
            cell: (node) => <Reach {...node} />,
          },
        ]}
      />
      {model.unavailable_since !== null && (
        <p className="muted">
          Out of reach <Ago at={model.unavailable_since} />.
        </p>
      )}
    </section>
  );
}
