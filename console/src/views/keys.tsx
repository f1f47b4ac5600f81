import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createKey, listKeys, revokeKey } from '../api/calls';
import type { AdminKey, NewKey } from '../api/types';
import { CopyButton } from '../parts/copy';
import { AsCurl } from '../parts/curl';
import { Dialog } from '../parts/dialog';
import { Listed, useList } from '../parts/pages';
import { ReasonField, reasonIn } from '../parts/reason-field';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';
import { useFilters } from '../parts/use-url-state';
import { KeyForm } from './key-form';
import { KeyTable } from './key-table';

export default function Keys() {
  const [isMaking, setMaking] = useState(false);
  const [changed, setChanged] = useState<AdminKey>();
  const [revoked, setRevoked] = useState<AdminKey>();
  const [made, setMade] = useState<NewKey>();
  const [parameters, setFilters] = useFilters();
  const hasRevoked = parameters.has('revoked');
  const isByAge = parameters.get('by') === 'age';
  const keys = useList(['keys'], listKeys, { refetchInterval: 30_000 });
  return (
    <main className="page">
      <div className="head">
        <h1>Keys</h1>
        <span className="end">
          <label className="choice">
            <input
              type="checkbox"
              checked={isByAge}
              onChange={({ target }) => setFilters({ by: target.checked ? 'age' : undefined })}
            />
            <span>newest first</span>
          </label>
          <label className="choice">
            <input
              type="checkbox"
              checked={hasRevoked}
              onChange={({ target }) => setFilters({ revoked: target.checked ? 'too' : undefined })}
            />
            <span>show revoked keys</span>
          </label>
          <AsCurl calls={[{ path: 'v1/admin/keys' }]} />
          <ActButton className="primary" onClick={() => setMaking(true)}>
            Create a key…
          </ActButton>
        </span>
      </div>
      {made !== undefined && <Made made={made} onDone={() => setMade(undefined)} />}
      <section className="card" aria-label="Keys">
        <Listed list={keys}>
          {(rows) => (
            <KeyTable rows={shown(rows, hasRevoked, isByAge)} onChange={setChanged} onRevoke={setRevoked} />
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

/** Sorts the keys by use, most used first, unless they are listed by age. */
function shown(rows: readonly AdminKey[], hasRevoked: boolean, isByAge: boolean): AdminKey[] {
  const kept = rows.filter(({ revoked_at }) => hasRevoked || revoked_at === null);
  if (isByAge) return kept;
  return kept.sort((one, other) => other.requests_last_30_days - one.requests_last_30_days);
}

function Made({ made, onDone }: { made: NewKey; onDone: () => void }) {
  return (
    <section className="card stack" aria-label="New key">
      <h2>Key of {made.name}, shown only once</h2>
      <div className="row">
        <code>{made.key}</code>
        <CopyButton text={made.key} />
        <span className="end">
          <button type="button" onClick={onDone}>
            I have saved it
          </button>
        </span>
      </div>
    </section>
  );
}

function Revoke({ given, onClose }: { given: AdminKey; onClose: () => void }) {
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const revoking = useMutation({
    mutationFn: () => revokeKey(given.id, reasonIn(reason)),
    onSuccess: () => {
      onClose();
      return client.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  return (
    <Dialog title={`Revoke the key “${given.name}”?`} onClose={onClose}>
      <p>
        All calls with this key are refused, and its sessions end. Its requests continue, its batches are
        cancelled. This cannot be undone.
      </p>
      <ReasonField value={reason} onChange={setReason} />
      {revoking.error !== null && <Failure error={revoking.error} />}
      <div className="buttons">
        <button type="button" onClick={onClose}>
          Keep the key
        </button>
        <ActButton
          type="button"
          className="primary danger"
          disabled={revoking.isPending}
          onClick={() => revoking.mutate()}
        >
          Revoke {given.name}
        </ActButton>
      </div>
    </Dialog>
  );
}
