import { Link } from 'wouter';
import { listBatches } from '../api/calls';
import { query } from '../api/client';
import { whole } from '../format/quantities';
import { AsCurl } from '../parts/curl';
import { Listed, useList } from '../parts/pages';
import { Table } from '../parts/table';
import { Ago } from '../parts/time';
import { useFilters } from '../parts/use-url-state';
import { BatchState, batchStatuses, Lines, statusWord } from './batch-parts';

export default function Batches() {
  const [parameters, setFilters] = useFilters();
  const filter = {
    status: batchStatuses.find((status) => status === parameters.get('status')),
    key_id: parameters.get('key_id') ?? '',
  };
  const list = useList(
    ['batches', filter],
    (cursor, signal) => listBatches({ ...filter, cursor: cursor ?? '' }, signal),
    { refetchInterval: 5_000 },
  );
  return (
    <main className="page">
      <div className="head">
        <h1>Batches</h1>
        <span className="end">
          <AsCurl calls={[{ path: `v1/admin/batches${query(filter)}` }]} />
        </span>
      </div>
      <section className="card stack" aria-label="Batches">
        <div className="row">
          <label className="row">
            <span className="muted">Status</span>
            <select
              value={filter.status ?? ''}
              onChange={({ target }) => setFilters({ status: target.value })}
            >
              <option value="">any</option>
              {batchStatuses.map((status) => (
                <option key={status} value={status}>
                  {statusWord(status)}
                </option>
              ))}
            </select>
          </label>
          {filter.key_id !== '' && (
            <button type="button" onClick={() => setFilters({ key_id: undefined })}>
              Show all keys
            </button>
          )}
        </div>
        <Listed list={list} bones={5}>
          {(rows) => (
            <Table
              label="Batches, newest first"
              cardsBelow={1000}
              rows={rows}
              rowKey={({ batch_id }) => batch_id}
              empty="No batch matches."
              columns={[
                { title: 'Status', className: 'tight', cell: ({ status }) => <BatchState status={status} /> },
                {
                  title: 'Batch',
                  className: 'tight',
                  cell: ({ batch_id: id }) => (
                    <Link className="id" data-row="" href={`/batches/${id}`}>
                      {id.slice(0, 8)}…{id.slice(-4)}
                    </Link>
                  ),
                },
                { title: 'Lines done', cell: (batch) => <Lines batch={batch} /> },
                {
                  title: 'Failed',
                  className: 'tight number',
                  cell: ({ counts: { failed } }) =>
                    failed === 0 ? '0' : <b className="bad">{whole(failed)}</b>,
                },
                {
                  title: 'Running',
                  className: 'tight number',
                  cell: ({ counts: { running } }) => whole(running),
                },
                {
                  title: 'Model',
                  cell: ({ model_id: id }) =>
                    id === null ? (
                      <span className="muted">set by each line</span>
                    ) : (
                      <Link href={`/models/${id}`}>{id}</Link>
                    ),
                },
                {
                  title: 'Key',
                  className: 'tight',
                  cell: ({ key }) => (
                    <Link href={`/batches?key_id=${key.id}`}>{key.name ?? 'a deleted key'}</Link>
                  ),
                },
                { title: 'Tag', className: 'tight', cell: ({ tag }) => tag },
                { title: 'Created', className: 'tight', cell: ({ created_at }) => <Ago at={created_at} /> },
              ]}
            />
          )}
        </Listed>
      </section>
    </main>
  );
}
