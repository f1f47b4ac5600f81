import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { Link } from 'wouter';
import { createKey, listKeys, revokeKey } from '../api/calls';
import type { AdminKey, LimitLeft, NewKey } from '../api/types';
import { whole } from '../format/quantities';
import { CopyButton } from '../parts/copy';
import { AsCurl } from '../parts/curl';
import { Dialog } from '../parts/dialog';
import { Listed, useList } from '../parts/pages';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';
import { Table } from '../parts/table';
import { Ago, Time } from '../parts/time';
import { useFilters } from '../parts/use-url-state';
import { KeyForm } from './key-form';

export default function Keys() {
  const [isMaking, setMaking] = useState(false);
  const [changed, setChanged] = useState<AdminKey>();
  const [revoked, setRevoked] = useState<AdminKey>();
  const [made, setMade] = useState<NewKey>();
  const [parameters, setFilters] = useFilters();
  const hasRevoked = parameters.has('revoked');
  const isByUse = parameters.get('by') === 'use';
  const keys = useList(['keys'], listKeys, { refetchInterval: 30_000 });
  return (
    <main className="page">
      <div className="head">
        <h1>Keys</h1>
        <span className="end">
          <label className="choice">
            <input
              type="checkbox"
              checked={isByUse}
              onChange={({ target }) => setFilters({ by: target.checked ? 'use' : undefined })}
            />
            <span>most used first</span>
          </label>
          <label className="choice">
            <input
              type="checkbox"
              checked={hasRevoked}
              onChange={({ target }) => setFilters({ revoked: target.checked ? 'too' : undefined })}
            />
            <span>with those revoked</span>
          </label>
          <AsCurl calls={[{ path: 'v1/admin/keys' }]} />
          <ActButton className="primary" onClick={() => setMaking(true)}>
            Make a key…
          </ActButton>
        </span>
      </div>
      {made !== undefined && <Made made={made} onDone={() => setMade(undefined)} />}
      <section className="card" aria-label="Keys">
        <Listed list={keys}>
          {(rows) => (
            <KeyTable rows={shown(rows, hasRevoked, isByUse)} onChange={setChanged} onRevoke={setRevoked} />
          )}
        </Listed>
      </section>
      {isMaking && (
        <KeyForm
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
          }}
          save={createKey}
        />
      )}
      {changed !== undefined && <KeyForm given={changed} onClose={() => setChanged(undefined)} />}
      {revoked !== undefined && <Revoke given={revoked} onClose={() => setRevoked(undefined)} />}
    </main>
  );
}

function shown(rows: readonly AdminKey[], hasRevoked: boolean, isByUse: boolean): AdminKey[] {
  const kept = rows.filter(({ revoked_at }) => hasRevoked || revoked_at === null);
  if (!isByUse) return kept;
  return kept.sort((one, other) => other.requests_last_30_days - one.requests_last_30_days);
}

function Made({ made, onDone }: { made: NewKey; onDone: () => void }) {
  return (
    <section className="card stack" aria-label="The new key">
      <h2>The key of {made.name}, shown only this once</h2>
      <div className="row">
        <code>{made.key}</code>
        <CopyButton text={made.key} />
        <span className="end">
          <button type="button" onClick={onDone}>
            I have kept it
          </button>
        </span>
      </div>
    </section>
  );
}

interface KeyTableProps {
  rows: readonly AdminKey[];
  onChange: (key: AdminKey) => void;
  onRevoke: (key: AdminKey) => void;
}

function KeyTable({ rows, onChange, onRevoke }: KeyTableProps) {
  const most = Math.max(1, ...rows.map(({ requests_last_30_days: count }) => count));
  return (
    <Table
      label="Keys"
      rows={rows}
      rowKey={({ id }) => id}
      empty="There is no key."
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
          title: 'May',
          cell: ({ scopes, models }) => (
            <>
              {scopes.join(', ')}
              {models !== null && <div className="small muted">for {models.join(', ')}</div>}
            </>
          ),
        },
        {
          title: 'Left of its limits',
          className: 'tight',
          cell: ({ quota }) => (
            <span className="left small">
              <Left of={quota.submit} what="submissions" />
              <Left of={quota.other} what="other calls" />
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
          title: 'Ends',
          className: 'tight',
          cell: ({ revoked_at, expires_at }) =>
            revoked_at !== null ? (
              <span className="chip warn">revoked</span>
            ) : expires_at === null ? (
              <span className="muted">never</span>
            ) : (
              <Time at={expires_at} />
            ),
        },
        {
          title: '',
          className: 'tight',
          cell: (key) =>
            key.revoked_at === null && (
              <span className="row">
                <ActButton onClick={() => onChange(key)}>Change…</ActButton>
                <ActButton className="danger" onClick={() => onRevoke(key)}>
                  Revoke…
                </ActButton>
              </span>
            ),
        },
      ]}
    />
  );
}

/** Counts end at 10,000. */
const many = (value: number): string => `${whole(value)}${value >= 10_000 ? '+' : ''}`;
const bounded = (value: number, max: number | null): string =>
  `${many(value)}${max === null ? '' : ` of ${whole(max)}`}`;

/** Who uses most can be seen from afar. */
const Used = ({ count, of }: { count: number; of: number }) => (
  <span className="part">
    <span style={{ width: `${(count / of) * 100}%` }} />
    <b>{whole(count)}</b>
  </span>
);

/** Of each window, as a bar that empties. */
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

function Revoke({ given, onClose }: { given: AdminKey; onClose: () => void }) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => revokeKey(given.id),
    onSuccess: () => {
      onClose();
      return client.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  return (
    <Dialog title={`Revoke the key of ${given.name}?`} onClose={onClose}>
      <p>
        Every call with it is refused from now on, and its sessions end. What it submitted stays, and runs.
        This cannot be undone.
      </p>
      {revoking.error !== null && <Failure error={revoking.error} />}
      <div className="buttons">
        <button type="button" onClick={onClose}>
          Keep it
        </button>
        <button
          type="button"
          className="primary danger"
          disabled={revoking.isPending}
          onClick={() => revoking.mutate()}
        >
          Revoke {given.name}
        </button>
      </div>
    </Dialog>
  );
}
