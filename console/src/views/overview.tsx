import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { listModels, listRequests } from '../api/calls';
import { useLive } from '../api/live';
import type { AdminModel } from '../api/types';
import { counted, ofSlots, rate, short, whole } from '../format/quantities';
import { time } from '../format/times';
import { AsCurl } from '../parts/curl';
import { isRunning } from '../parts/node-state';
import { Failure, Bones } from '../parts/states';
import { Since } from '../parts/time';
import { FirstRun } from './first-run';
import { ModelActions } from './model-actions';
import { Plate, plateState, Slots } from './plate';
import { Reload } from './reload';
import { Sparkline } from './sparkline';
import { Strip, StripLegend } from './strip';
import { isFailing, NoScheduler, Trouble } from './trouble';

export function Overview() {
  const { overview, trouble, readAt } = useLive();
  const models = useQuery({ queryKey: ['models'], queryFn: ({ signal }) => listModels(signal) });
  const shown = overview?.models ?? models.data?.data;
  const [isAllShown, setAllShown] = useState(false);
  // Includes unavailable models, such as a model of workers before its first worker.
  const isIdle = shown?.every((model) => isUnused(model)) ?? false;
  const first = useQuery({
    queryKey: ['any-request'],
    queryFn: ({ signal }) => listRequests({}, { limit: 1 }, signal),
    enabled: isIdle,
  });
  // Old figures do not show the current nodes.
  const runsNothing = overview !== undefined && trouble === undefined && !overview.nodes.some(isRunning);
  const isFirstRun = isIdle && first.data?.data.length === 0;
  // Up to six models are all cards. With more models, the quiet ones are a list.
  const isMany = (shown?.length ?? 0) > 6;
  const cards = shown
    ?.filter((model) => isAllShown || !isMany || !isQuiet(model))
    .sort((one, other) => Number(isAway(other)) - Number(isAway(one)));
  const quiet = shown?.filter((model) => !cards!.includes(model)) ?? [];
  return (
    <main className="page">
      <div className="head">
        <h1>
          {shown === undefined ? (
            'Overview'
          ) : (
            <>
              {trouble !== undefined && readAt !== undefined && `At ${time(readAt)}: `}
              <Headline models={shown} runsNothing={runsNothing} />
            </>
          )}
        </h1>
        <span className="end">
          <Reload />
          <AsCurl
            calls={[
              { path: 'v1/admin/models' },
              { path: 'v1/admin/events', stream: true, what: 'The same data as a stream' },
            ]}
          />
        </span>
      </div>
      {shown === undefined &&
        (models.error === null ? (
          <Bones rows={8} />
        ) : (
          <Failure error={models.error} onRetry={() => void models.refetch()} />
        ))}
      {runsNothing && <NoScheduler nodes={overview.nodes} models={shown!} />}
      {isFirstRun && <FirstRun models={shown!} />}
      <div className={trouble === undefined ? 'stack' : 'stack stale'}>
        {cards?.map((model) => (
          <ModelCard key={model.id} model={model} />
        ))}
      </div>
      {quiet.length > 0 && (
        <section className="card stack" aria-label="Quiet models">
          <div className="row">
            <h2>{counted(quiet.length, 'quiet model')}</h2>
            <span className="muted">no requests now or in the last hour</span>
            <span className="end">
              <button type="button" onClick={() => setAllShown(true)}>
                Show as cards
              </button>
            </span>
          </div>
          <ul className="quiet">
            {quiet.map(({ id, started_today }) => (
              <li key={id}>
                <Link data-row="" href={`/models/${id}`}>
                  {id}
                </Link>
                <span className="muted">{whole(started_today)} today</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </main>
  );
}

const isUnused = (model: AdminModel): boolean => {
  const { waiting, running, delayed, held, completed_last_hour, failed_last_hour } = model;
  return waiting + running + delayed + held + completed_last_hour + failed_last_hour === 0;
};
const isQuiet = (model: AdminModel): boolean => model.availability === 'available' && isUnused(model);
const isAway = ({ availability }: AdminModel): boolean => availability === 'unavailable';

const isPaused = ({ paused }: AdminModel): boolean => paused.current !== false;

/** Summarises the page in one sentence. */
function Headline({ models, runsNothing }: { models: readonly AdminModel[]; runsNothing: boolean }) {
  const sum = (of: (model: AdminModel) => number): number =>
    models.reduce((total, model) => total + of(model), 0);
  const [running, waiting] = [sum((model) => model.running), sum((model) => model.waiting)];
  return (
    <>
      {running + waiting === 0
        ? 'No requests running or waiting'
        : `${whole(running)} running, ${whole(waiting)} waiting`}
      {!runsNothing && <Some models={models.filter(isAway)} are="unavailable" />}
      <Some models={models.filter(isFailing)} are="failing" />
      <Some models={models.filter(isPaused)} are="paused" />
    </>
  );
}

function Some({ models: [first, ...others], are }: { models: readonly AdminModel[]; are: string }) {
  if (first === undefined) return null;
  return (
    <>
      , <Link href={`/models/${first.id}`}>{`${counted(others.length + 1, 'model')} ${are}`}</Link>
    </>
  );
}

export function ModelName({ id }: { id: string }) {
  const at = id.lastIndexOf('/') + 1;
  return (
    <>
      {id.slice(0, at)}
      <b>{id.slice(at)}</b>
    </>
  );
}

/** The slots that a model shares with others. */
export function GroupFigure({ group }: { group: NonNullable<AdminModel['group']> }) {
  const { id, concurrency, running, models } = group;
  return (
    <div title={`Shared by ${models.join(', ')}`}>
      <dt>
        {ofSlots(concurrency)}of group {id} running
      </dt>
      <dd>
        <Slots running={running} slots={concurrency} />
        {whole(running)}
      </dd>
    </div>
  );
}

function ModelCard({ model }: { model: AdminModel }) {
  const { id, running, waiting, delayed, held, concurrency, started_today, oldest_waiting_at } = model;
  return (
    <article className="card model" aria-label={id}>
      <Plate value={started_today} label="started today" state={plateState(model)} />
      <div className="model-body">
        <div className="row">
          <h2>
            <Link data-row="" href={`/models/${id}`}>
              <ModelName id={id} />
            </Link>
          </h2>
          <span className="end">
            <ModelActions model={model} />
          </span>
        </div>
        <Trouble model={model} />
        <dl className="figures">
          <div>
            <dt>{ofSlots(concurrency.current)}running</dt>
            <dd>
              <Slots running={running} slots={concurrency.current} />
              {whole(running)}
            </dd>
          </div>
          {model.group !== null && <GroupFigure group={model.group} />}
          <div>
            <dt>waiting</dt>
            <dd className="big" title={whole(waiting)}>
              {waiting < 100_000 ? whole(waiting) : short(waiting)}
            </dd>
          </div>
          {oldest_waiting_at !== null && waiting > 0 && (
            <div>
              <dt>longest wait</dt>
              <dd>
                <Since at={oldest_waiting_at} />
              </dd>
            </div>
          )}
          {delayed > 0 && <Figure name="scheduled or retrying" value={delayed} />}
          {held > 0 && <Figure name="held by key bounds" value={held} />}
          <div>
            <dt>started</dt>
            <dd>{rate(model.started_per_second)}</dd>
          </div>
          {model.failed_last_hour > 0 && (
            <div>
              <dt>failed in the last hour</dt>
              <dd className="bad">
                <Link href={`/requests?model_id=${encodeURIComponent(id)}&outcome=failed`}>
                  {whole(model.failed_last_hour)}
                </Link>
              </dd>
            </div>
          )}
          <div className="wide">
            <dt>last hour</dt>
            <dd>
              <Sparkline history={model.history} />
            </dd>
          </div>
        </dl>
        {model.queue !== undefined && <Strip model={model} />}
        <StripLegend model={model} />
      </div>
    </article>
  );
}

const Figure = ({ name, value }: { name: string; value: number }) => (
  <div>
    <dt>{name}</dt>
    <dd>{whole(value)}</dd>
  </div>
);
