import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { drainWorker, listWorkers, stopWorker, undrainWorker } from '../api/calls';
import { query } from '../api/client';
import { useOutage } from '../api/live';
import type { AdminWorker } from '../api/types';
import { counted, whole } from '../format/quantities';
import { ConfirmedAction } from '../parts/confirmed-action';
import { AsCurl } from '../parts/curl';
import { Listed, useList } from '../parts/pages';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';
import { type Column, Table } from '../parts/table';
import { Ago, Time } from '../parts/time';

/** Lists the programs that claim runs over HTTP. Hidden if there are none. */
export function Workers() {
  const list = useList(['workers'], listWorkers, { refetchInterval: 3_000 });
  const outage = useOutage();
  // During an outage the list is unknown, and the page already says why.
  if (list.rows.length === 0 && (list.error === null || outage !== undefined)) return null;
  return (
    <section className="card stack" aria-label="Workers">
      <div className="row">
        <h2>Workers</h2>
        <span className="muted">programs that claim runs over HTTP</span>
        <span className="end">
          <AsCurl calls={[{ path: 'v1/admin/workers' }]} />
        </span>
      </div>
      <Listed list={list}>
        {(rows) => <Table label="Workers" rows={rows} rowKey={({ uid }) => uid} columns={columns} />}
      </Listed>
    </section>
  );
}

const columns: readonly Column<AdminWorker>[] = [
  {
    title: 'Worker',
    cell: ({ name, id, version, labels }) => (
      <>
        <b title={id}>{name}</b> <span className="muted">{version}</span>
        <div className="row small muted">
          {Object.entries(labels).map(([label, value]) => (
            <span className="chip" key={label}>
              {label} {value}
            </span>
          ))}
        </div>
      </>
    ),
  },
  {
    title: 'Models',
    cell: ({ models }) =>
      models.map((id) => (
        <div key={id}>
          <Link href={`/models/${id}`}>{id}</Link>
        </div>
      )),
  },
  {
    title: 'Key',
    className: 'tight',
    cell: ({ key }) => <Link href={`/requests${query({ key_id: key.id })}`}>{key.name ?? '–'}</Link>,
  },
  { title: 'Runs', className: 'tight number', cell: ({ running }) => whole(running) },
  { title: 'Last seen', className: 'tight', cell: ({ seen_at }) => <Ago at={seen_at} /> },
  {
    title: 'State',
    cell: ({ state, says, resting_until, failures_in_row }) => (
      <>
        <span className={state === 'ready' ? 'chip' : 'chip warn'}>{state}</span>{' '}
        {state === 'resting' && (
          <>
            until <Time at={resting_until} />, after {counted(failures_in_row, 'failure')} in a row{' '}
          </>
        )}
        {state === 'stuck' && 'still executes a run that is over '}
        {says !== '' && says !== state && <span className="muted">reports “{says}”</span>}
      </>
    ),
  },
  { title: '', className: 'tight', cell: (worker) => <Actions worker={worker} /> },
];

function Actions({ worker: { uid, name, state, running } }: { worker: AdminWorker }) {
  const client = useQueryClient();
  const reread = () => client.invalidateQueries({ queryKey: ['workers'] });
  const resuming = useMutation({ mutationFn: () => undrainWorker(uid), onSuccess: reread });
  const rest = `It has ${counted(running, 'run')}. This still applies when a worker of this name starts again.`;
  const isAsked = state === 'draining' || state === 'stopping';
  return (
    <span className="row">
      {isAsked ? (
        <ActButton className="primary" disabled={resuming.isPending} onClick={() => resuming.mutate()}>
          Resume
        </ActButton>
      ) : (
        <ConfirmedAction
          label="Drain…"
          title={`Drain ${name}?`}
          verb={`Drain ${name}`}
          back="Leave it running"
          act={(reason) => drainWorker(uid, reason)}
          onDone={reread}
        >
          The worker claims no more runs. Its runs continue to their end. Then you can stop it. {rest}
        </ConfirmedAction>
      )}
      {state !== 'stopping' && (
        <ConfirmedAction
          label="Stop…"
          className="danger"
          title={`Stop ${name}?`}
          verb={`Stop ${name}`}
          isDanger
          back="Leave it running"
          act={(reason) => stopWorker(uid, reason)}
          onDone={reread}
        >
          The worker is asked to end. Runs that it does not finish return to the queue. {rest}
        </ConfirmedAction>
      )}
      {resuming.error !== null && <Failure error={resuming.error} />}
    </span>
  );
}
