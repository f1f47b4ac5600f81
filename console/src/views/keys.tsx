import { useState } from 'react';
import { createKey, listKeys } from '../api/calls';
import type { AdminKey, NewKey } from '../api/types';
import { CopyButton } from '../parts/copy';
import { AsCurl } from '../parts/curl';
import { Listed, useList } from '../parts/pages';
import { ActButton } from '../parts/rights';
import { useFilters } from '../parts/use-url-state';
import { KeyForm } from './key-form';
import { KeyTable } from './key-table';

export default function Keys() {
  const [isMaking, setMaking] = useState(false);
  const [changed, setChanged] = useState<AdminKey>();
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
          {(rows) => <KeyTable rows={shown(rows, hasRevoked, isByAge)} onChange={setChanged} />}
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
