import { useMutation } from '@tanstack/react-query';
import { type AuditFilter, auditPath, listAudit } from '../api/calls';
import { send } from '../api/client';
import type { AuditAction, AuditEntry } from '../api/types';
import { AsCurl } from '../parts/curl';
import { Listed, useList } from '../parts/pages';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';
import { Table } from '../parts/table';
import { Time } from '../parts/time';
import { useFilters } from '../parts/use-url-state';
import { auditActions } from './audit-actions';
import { Target, useTargetNames } from './audit-target';
import { Choice, FilterBar, Text, When } from './request-filters';

const names = ['actor', 'target', 'after', 'before'] as const;

export default function Audit() {
  const [parameters, setFilters] = useFilters();
  const filter: AuditFilter = {};
  for (const name of names) {
    const value = parameters.get(name);
    if (value) filter[name] = value;
  }
  const action = parameters.get('action') as AuditAction | null;
  if (action) filter.action = action;
  const list = useList(['audit', filter], (cursor, signal) => listAudit(filter, cursor, signal));
  const exporting = useMutation({ mutationFn: () => download(auditPath(filter)) });
  const field = (name: 'actor' | 'target', label: string, placeholder: string) => (
    <Text
      label={label}
      placeholder={placeholder}
      value={filter[name] ?? ''}
      onChange={(value) => setFilters({ [name]: value })}
    />
  );
  return (
    <main className="page">
      <div className="head">
        <h1>Audit</h1>
        <span className="muted">Entries cannot be changed.</span>
        <span className="end">
          <AsCurl calls={[{ path: auditPath(filter) }]} />
          <ActButton
            needs="observe"
            type="button"
            disabled={exporting.isPending}
            onClick={() => exporting.mutate()}
          >
            Export as NDJSON
          </ActButton>
        </span>
      </div>
      {exporting.error !== null && <Failure error={exporting.error} />}
      <FilterBar
        count={Object.keys(filter).filter((name) => name !== 'target').length}
        search={field('target', 'Target', 'acme/image/upscale')}
      >
        <Choice
          label="Action"
          value={filter.action ?? ''}
          onChange={(value) => setFilters({ action: value })}
          options={[['', 'any action'], ...auditActions.map((name) => [name, name] as const)]}
        />
        {field('actor', 'Actor', 'name or key id')}
        <When label="After" value={filter.after ?? ''} onChange={(after) => setFilters({ after })} />
        <When label="Before" value={filter.before ?? ''} onChange={(before) => setFilters({ before })} />
      </FilterBar>
      <section className="card" aria-label="Audit entries">
        <Listed list={list} bones={8}>
          {(rows) => <Entries rows={rows} />}
        </Listed>
      </section>
    </main>
  );
}

function Entries({ rows }: { rows: readonly AuditEntry[] }) {
  const named = useTargetNames();
  return (
    <Table
      label="Audit entries, newest first"
      cardsBelow={1000}
      rows={rows}
      rowKey={({ id }) => id}
      empty="No entry matches."
      columns={[
        { title: 'Time', className: 'tight', cell: ({ at }) => <Time at={at} /> },
        { title: 'Actor', cell: ({ actor }) => actor.name },
        {
          title: 'Action',
          cell: ({ action }) => (
            <>
              <code>{action}</code> {action.endsWith('refuse') && <span className="chip warn">refused</span>}
            </>
          ),
        },
        { title: 'Target', cell: (entry) => <Target entry={entry} named={named} /> },
        { title: 'Change', cell: (entry) => <Change entry={entry} /> },
        {
          title: 'Address',
          cell: ({ actor: { address, user_agent } }) => (
            <span title={user_agent ?? undefined}>{address ?? <span className="muted">local</span>}</span>
          ),
        },
      ]}
    />
  );
}

function Change({ entry: { before, after, reason, http_request_id } }: { entry: AuditEntry }) {
  const said = [before, after]
    .filter((one) => one !== null && one !== undefined)
    .map((one) => JSON.stringify(one));
  if (said.length === 0 && !reason) return <span className="muted">–</span>;
  return (
    <details>
      <summary data-row="">
        {said.join(' → ').slice(0, 60)}
        {reason && ` “${reason}”`}
      </summary>
      <pre>
        {[
          before === null ? '' : `before ${JSON.stringify(before, null, 2)}`,
          after === null ? '' : `after ${JSON.stringify(after, null, 2)}`,
          http_request_id === null ? '' : `X-Request-Id ${http_request_id}`,
        ]
          .filter((line) => line !== '')
          .join('\n')}
      </pre>
    </details>
  );
}

/** Downloads all entries that match the filter, from the same route in another format. */
async function download(path: string): Promise<void> {
  const response = await send(path, { headers: { accept: 'application/x-ndjson' } });
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = 'audit.ndjson';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
