import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { listModels, readQueue, readShares } from '../api/calls';
import { useLive } from '../api/live';
import type { AdminModel, TypicalTime } from '../api/types';
import { counted, duration, ofSlots, rate, whole } from '../format/quantities';
import { AsCurl } from '../parts/curl';
import { Bones, Failure, Loaded } from '../parts/states';
import { Since } from '../parts/time';
import { ModelActions } from './model-actions';
import { ModelServer } from './model-server';
import { Nodes, QueueTable, Shares } from './model-tables';
import { GroupFigure, ModelName } from './overview';
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
          <AsCurl calls={[{ path: `v1/admin/models/${id}`, what: 'Model, nodes and last hour' }]} />
          {model !== undefined && <ModelActions model={model} />}
          <Link className="button" href={`/try/${id}`}>
            Try it
          </Link>
        </span>
      </div>
      {model !== undefined && <Known model={model} />}
      {model === undefined && all !== undefined && (
        <p className="notice warn">
          The model {id} does not exist. It may have been removed from models.yaml.
        </p>
      )}
      {all === undefined && models.error !== null && (
        <Failure error={models.error} onRetry={() => void models.refetch()} />
      )}
      {all === undefined && models.error === null && <Bones rows={8} />}
    </main>
  );
}

function Reserved({ slots, priority }: { slots: number; priority: string }) {
  return (
    <div>
      <dt>reserved for {priority} priority</dt>
      <dd>{counted(slots, 'slot')}</dd>
    </div>
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
            {model.group !== null && <GroupFigure group={model.group} />}
            {model.reserve.high > 0 && <Reserved slots={model.reserve.high} priority="high" />}
            {model.reserve.normal > 0 && <Reserved slots={model.reserve.normal} priority="normal" />}
            <div>
              <dt>waiting</dt>
              <dd className="big">{whole(model.waiting)}</dd>
            </div>
            {model.held > 0 && (
              <div>
                <dt>held by key bounds</dt>
                <dd>{whole(model.held)}</dd>
              </div>
            )}
            {model.delayed > 0 && (
              <div>
                <dt>scheduled or retrying</dt>
                <dd>{whole(model.delayed)}</dd>
              </div>
            )}
            {model.oldest_waiting_at !== null && model.waiting > 0 && (
              <div>
                <dt>longest wait</dt>
                <dd>
                  <Since at={model.oldest_waiting_at} />
                </dd>
              </div>
            )}
            <div>
              <dt>started</dt>
              <dd>{rate(model.started_per_second)}</dd>
            </div>
            <Typical name="run time" time={model.run_time} />
            <Typical name="queue time" time={model.queue_time} />
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
      <section className="card stack" aria-label="Last hour">
        <h2>Last hour</h2>
        <Suspense fallback={<Bones rows={4} />}>
          <HourChart history={model.history} />
        </Suspense>
      </section>
      <section className="card stack" aria-label="Queue">
        <div className="row">
          <h2>Queue</h2>
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
                  Show all waiting requests
                </Link>
              )}
            </>
          )}
        </Loaded>
      </section>
      <section className="card stack" aria-label="Shares">
        <div className="row">
          <h2>Shares of capacity</h2>
          <span className="end">
            <AsCurl calls={[{ path: `v1/admin/shares?model=${encodeURIComponent(id)}` }]} />
          </span>
        </div>
        <Loaded query={shares}>{({ data }) => <Shares rows={data} />}</Loaded>
      </section>
      <ModelServer model={model} />
      <Nodes model={model} />
    </>
  );
}

function Typical({ name, time }: { name: string; time: TypicalTime | null | undefined }) {
  if (!time) return null;
  return (
    <div>
      <dt>{name}, median · p95</dt>
      <dd>
        {duration(time.p50 * 1_000)} · {duration(time.p95 * 1_000)}
      </dd>
    </div>
  );
}
