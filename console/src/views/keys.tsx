import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { createKey, listKeys, revokeKey } from '../api/calls';
import type { AdminKey, LimitLeft, NewKey } from '../api/types';
import { whole } from '../format/quantities';
import { CopyButton } from '../parts/copy';
import { AsCurl } from '../parts/curl';
import { Dialog } from '../parts/dialog';
import { ActButton } from '../parts/rights';
import { Failure, Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Ago, Time } from '../parts/time';
import { KeyForm } from './key-form';

export default function Keys() {
  const [isMaking, setMaking] = useState(false);
  const [changed, setChanged] = useState<AdminKey>();
  const [revoked, setRevoked] = useState<AdminKey>();
  const [made, setMade] = useState<NewKey>();
  const [hasRevoked, setHasRevoked] = useState(false);
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => listKeys(signal),
    refetchInterval: 10_000,
  });
  return (
    <main className="page">
      <div className="head">
        <h1>Keys</h1>
        <span className="end">
          <label className="choice">
            <input
              type="checkbox"
              checked={hasRevoked}
              onChange={({ target }) => setHasRevoked(target.checked)}
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
        <Loaded query={keys} rows={6}>
          {({ data }) => (
            <KeyTable
              rows={data.filter(({ revoked_at }) => hasRevoked || revoked_at === null)}
              onChange={setChanged}
              onRevoke={setRevoked}
            />
          )}
        </Loaded>
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
        { title: 'Submissions left', cell: ({ quota }) => <Left of={quota.submit} /> },
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
          cell: ({ requests_today }) => many(requests_today),
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

/** Of each window, as a bar that empties. */
function Left({ of }: { of: readonly LimitLeft[] }) {
  if (of.length === 0) return <span className="muted">no limit</span>;
  return (
    <span className="stack">
      {of.map(({ limit, window_s, remaining }) => {
        const window = window_s === 1 ? 'second' : window_s === 60 ? 'minute' : `${window_s} s`;
        return (
          <span className="part wide" key={window_s}>
            <span style={{ width: `${(remaining / limit) * 100}%` }} />
            <b>
              {whole(remaining)} of {whole(limit)} a {window}
            </b>
          </span>
        );
      })}
    </span>
  );
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
