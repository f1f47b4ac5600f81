import { useQueryClient } from '@tanstack/react-query';
import { Fragment } from 'react';
import { Link } from 'wouter';
import { revokeKey } from '../api/calls';
import type { AdminKey, LimitLeft } from '../api/types';
import { whole } from '../format/quantities';
import { ConfirmedAction } from '../parts/confirmed-action';
import { ActButton } from '../parts/rights';
import { Table } from '../parts/table';
import { Ago, Day } from '../parts/time';

interface KeyTableProps {
  rows: readonly AdminKey[];
  onChange: (key: AdminKey) => void;
}

export function KeyTable({ rows, onChange }: KeyTableProps) {
  const most = Math.max(1, ...rows.map(({ requests_last_30_days: count }) => count));
  return (
    <Table
      label="Keys"
      cardsBelow={1200}
      rows={rows}
      rowKey={({ id }) => id}
      empty="No keys."
      columns={[
        {
          title: 'Key',
          cell: ({ id, name, prefix, subject }) => (
            <>
              <Link data-row="" href={`/requests?key_id=${id}`}>
                {name}
              </Link>{' '}
              <span className="id muted">{subject ?? `${prefix}…`}</span>
            </>
          ),
        },
        {
          title: 'Scopes',
          cell: ({ scopes, models }) => (
            <>
              {scopes.join(', ')}
              {models !== null && <div className="small muted">for {models.join(', ')}</div>}
            </>
          ),
        },
        {
          title: 'Limits left',
          className: 'tight',
          cell: ({ quota }) => (
            <span className="left small">
              <Left of={quota.submit} what="submissions" />
              <Left of={quota.other} what="other calls" />
              <Left of={quota.batch} what="batch items" />
            </span>
          ),
        },
        {
          title: 'Waiting',
          className: 'tight number',
          cell: ({ waiting, max_waiting }) => bounded(waiting, max_waiting),
        },
        {
          title: 'Running',
          className: 'tight number',
          cell: ({ running, max_running }) => bounded(running, max_running),
        },
        {
          title: 'Today',
          className: 'tight number',
          cell: ({ requests_today }) => whole(requests_today),
        },
        {
          title: '30 days',
          className: 'tight number',
          cell: ({ requests_last_30_days: count }) => <Used count={count} of={most} />,
        },
        { title: 'Last used', className: 'tight', cell: ({ last_used_at }) => <Ago at={last_used_at} /> },
        {
          title: 'Expires',
          className: 'tight',
          cell: ({ revoked_at, expires_at }) =>
            revoked_at !== null ? (
              <span className="chip warn">revoked</span>
            ) : expires_at === null ? (
              <span className="muted">never</span>
            ) : (
              <Day at={expires_at} />
            ),
        },
        {
          title: '',
          className: 'tight',
          cell: (key) =>
            key.revoked_at === null && (
              <span className="actions">
                <ActButton onClick={() => onChange(key)}>Change…</ActButton>
                <Revoke given={key} />
              </span>
            ),
        },
      ]}
    />
  );
}

function Revoke({ given: { id, name } }: { given: AdminKey }) {
  const client = useQueryClient();
  return (
    <ConfirmedAction
      label="Revoke…"
      className="danger"
      title={`Revoke the key “${name}”?`}
      verb={`Revoke ${name}`}
      isDanger
      back="Keep the key"
      act={(reason) => revokeKey(id, reason)}
      onDone={() => client.invalidateQueries({ queryKey: ['keys'] })}
    >
      All calls with this key are refused, and its sessions end. Its requests continue, its batches are
      cancelled. This cannot be undone.
    </ConfirmedAction>
  );
}

/** The service counts to 10,000 at most. */
const many = (value: number): string => `${whole(value)}${value >= 10_000 ? '+' : ''}`;
const bounded = (value: number, max: number | null): string =>
  `${many(value)}${max === null ? '' : ` of ${whole(max)}`}`;

/** Shows a count as a bar, so that the busiest keys are easy to see. */
const Used = ({ count, of }: { count: number; of: number }) => (
  <span className="part">
    <span style={{ width: `${(count / of) * 100}%` }} />
    <b>{whole(count)}</b>
  </span>
);

/** Shows the remaining calls of each window as a bar. */
function Left({ of, what }: { of: readonly LimitLeft[]; what: string }) {
  if (of.length === 0) {
    return (
      <>
        <span className="muted">{what}</span>
        <span className="muted">no limit</span>
      </>
    );
  }
  return of.map(({ limit, window_s, remaining }, i) => {
    const window = window_s === 1 ? 's' : window_s === 60 ? 'min' : `${window_s} s`;
    return (
      <Fragment key={window_s}>
        <span className="muted">{i === 0 ? what : ''}</span>
        <span className="part wide">
          <span style={{ width: `${(remaining / limit) * 100}%` }} />
          <b>
            {whole(remaining)} of {whole(limit)}/{window}
          </b>
        </span>
      </Fragment>
    );
  });
}
