import { type CSSProperties, useState } from 'react';
import { Link } from 'wouter';
import type { AdminModel, QueueEntry, Share } from '../api/types';
import { duration, percent, whole } from '../format/quantities';
import { Reach } from '../parts/reach';
import { Table } from '../parts/table';
import { Since, Time } from '../parts/time';
import { keyColour } from './key-colours';
import { Slots } from './plate';

const KeyName = ({ id, name }: { id: string; name: string | null }) => (
  <span className="legend">
    <span>
      <i style={{ '--key': keyColour(id) } as CSSProperties} />
      {name || 'a deleted key'}
    </span>
  </span>
);

const shownAtFirst = 16;

export function QueueTable({ rows: all }: { rows: readonly QueueEntry[] }) {
  const [isWhole, setWhole] = useState(false);
  const rows = isWhole ? all : all.slice(0, shownAtFirst);
  return (
    <>
      <Table
        label="Queue"
        rows={rows}
        rowKey={({ request_id }) => request_id}
        empty="No request runs or waits."
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
            title: 'Time',
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

export function Shares({ rows }: { rows: readonly Share[] }) {
  return (
    <Table
      label="Shares of capacity"
      rows={rows}
      rowKey={({ key }) => key.id}
      empty="No key used this model in the last hour."
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
          title: 'Share now',
          className: 'tight',
          cell: ({ share_now }) => <Part share={share_now} name="Share of the runs in progress" />,
        },
        {
          title: 'Share, 1 h',
          className: 'tight',
          cell: ({ share_last_hour }) => (
            <Part share={share_last_hour} name="Share of the run time in the last hour" />
          ),
        },
        {
          title: 'Starts, 1 h',
          className: 'tight number',
          cell: ({ starts_last_hour }) => whole(starts_last_hour),
        },
        {
          title: 'Run time, 1 h',
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

export function Nodes({ model }: { model: AdminModel }) {
  // Workers claim the runs of this model, and nodes do not reach workers.
  if (model.kind === 'worker') return null;
  return (
    <section className="card stack" aria-label="Nodes">
      <h2>Nodes</h2>
      <Table
        label="Nodes and slots"
        rows={model.nodes}
        rowKey={({ name }) => name}
        empty="No node runs this model."
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
            title: 'Reachable',
            cell: (node) => <Reach {...node} />,
          },
        ]}
      />
      {model.unavailable_since !== null && (
        <p className="muted">
          Unreachable for <Since at={model.unavailable_since} />.
        </p>
      )}
    </section>
  );
}
