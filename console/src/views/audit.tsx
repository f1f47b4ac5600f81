import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { type AuditFilter, auditPath, listAudit } from '../api/calls';
import { send } from '../api/client';
import type { AuditEntry } from '../api/types';
import { AsCurl } from '../parts/curl';
import { Bones, Failure } from '../parts/states';
import { Table } from '../parts/table';
import { Time } from '../parts/time';
import { useFilters } from '../parts/use-url-state';
import { Text } from './request-filters';

const names = ['action', 'actor', 'target'] as const;

export default function Audit() {
  const [parameters, setFilters] = useFilters();
  const filter: AuditFilter = {};
  for (const name of names) {
    const value = parameters.get(name);
    if (value) filter[name] = value;
  }
  const list = useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) => listAudit(filter, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const exporting = useMutation({ mutationFn: () => download(auditPath(filter)) });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <main className="page">
      <div className="head">
        <h1>Audit</h1>
        <span className="muted">who did what, from where; nothing here can be changed</span>
        <span className="end">
          <AsCurl calls={[{ path: auditPath(filter) }]} />
          <button type="button" disabled={exporting.isPending} onClick={() => exporting.mutate()}>
            Export as NDJSON
          </button>
        </span>
      </div>
      {exporting.error !== null && <Failure error={exporting.error} />}
      <search className="card filters">
        {names.map((name) => (
          <Text
            key={name}
            label={{ action: 'Action', actor: 'Who', target: 'To what' }[name]}
            placeholder={
              { action: 'model.pause', actor: 'a name, or the id of a key', target: 'acme/image/upscale' }[
                name
              ]
            }
            value={filter[name] ?? ''}
            onChange={(value) => setFilters({ [name]: value })}
            isSearch={name === 'action'}
          />
        ))}
      </search>
      <section className="card" aria-label="Audit entries">
        {list.isPending && <Bones rows={8} />}
        {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
        {list.isSuccess && <Entries rows={rows} />}
        {list.hasNextPage && (
          <button type="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show older ones
          </button>
        )}
      </section>
    </main>
  );
}

function Entries({ rows }: { rows: readonly AuditEntry[] }) {
  return (
    <Table
      label="Audit entries, newest first"
      rows={rows}
      rowKey={({ id }) => id}
      empty="Nothing fits."
      columns={[
        { title: 'When', className: 'tight', cell: ({ at }) => <Time at={at} /> },
        { title: 'Who', cell: ({ actor }) => actor.name },
        {
          title: 'What',
          cell: ({ action }) => (
            <>
              <code>{action}</code> {action.endsWith('refuse') && <span className="chip warn">refused</span>}
            </>
          ),
        },
        { title: 'To what', cell: ({ target }) => target ?? '' },
        { title: 'Change', cell: (entry) => <Change entry={entry} /> },
        {
          title: 'From where',
          cell: ({ actor: { address, user_agent } }) => (
            <span title={user_agent ?? undefined}>{address ?? <span className="muted">here</span>}</span>
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
      <summary>{reason ?? said.join(' → ').slice(0, 60)}</summary>
      <pre>
        {[
          before === null ? '' : `before ${JSON.stringify(before, null, 2)}`,
          after === null ? '' : `after ${JSON.stringify(after, null, 2)}`,
          http_request_id === null ? '' : `call ${http_request_id}`,
        ]
          .filter((line) => line !== '')
          .join('\n')}
      </pre>
    </details>
  );
}

/** All that the filter finds, by the same call in another form. */
async function download(path: string): Promise<void> {
  const response = await send(path, { headers: { accept: 'application/x-ndjson' } });
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = 'audit.ndjson';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
