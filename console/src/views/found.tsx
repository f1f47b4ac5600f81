import { useState } from 'react';
import { Link } from 'wouter';
import { query } from '../api/client';
import type { FoundCount, RequestFilter } from '../api/types';
import { whole } from '../format/quantities';
import { Table } from '../parts/table';
import { Ago } from '../parts/time';
import { useFilters } from '../parts/use-url-state';

const dayMs = 86_400_000;

/** Links to the most common filters. */
export function Usual({ filter }: { filter: RequestFilter }) {
  const [now] = useState(Date.now);
  const since = new Date(now - dayMs).toISOString();
  const all: [string, RequestFilter][] = [
    ['Failed in 24 h', { outcome: 'failed', created_after: since }],
    ['Waiting', { status: 'IN_QUEUE' }],
    ['Running', { status: 'IN_PROGRESS' }],
  ];
  return (
    <p className="row">
      {all.map(([name, asked]) => (
        <Link
          key={name}
          className="button"
          aria-current={isShown(asked, filter) ? 'true' : undefined}
          href={`/requests${query({ ...asked })}`}
        >
          {name}
        </Link>
      ))}
    </p>
  );
}

/** Compares filters without their times, which are those of the click. */
const isShown = (asked: RequestFilter, filter: RequestFilter): boolean =>
  Object.keys(asked).length === Object.keys(filter).length &&
  Object.keys(asked).every((name) => name in filter) &&
  asked.outcome === filter.outcome &&
  asked.status === filter.status;

/** Counts the failed requests among those found, by cause. */
export function Failures({ failures }: { failures: NonNullable<FoundCount['failures']> }) {
  const [, setFilters] = useFilters();
  if (failures.length === 0) return null;
  return (
    <section className="card" aria-label="Failed requests by cause">
      <Table
        label="Failed requests by cause, most frequent first"
        rows={failures}
        isBrief
        rowKey={({ model_id, code, message }) => `${model_id} ${code} ${message}`}
        columns={[
          {
            title: 'Failed',
            className: 'tight count',
            cell: ({ count }) => <b className="bad">{whole(count)}</b>,
          },
          {
            title: 'Model and code',
            className: 'wraps',
            cell: ({ model_id, code }) => (
              <>
                {model_id}{' '}
                <button type="button" className="plain" onClick={() => setFilters({ model_id, code })}>
                  <code>{code}</code>
                </button>
              </>
            ),
          },
          {
            title: 'Last message',
            className: 'cut why',
            cell: ({ message }) => <span title={message ?? undefined}>{message}</span>,
          },
          { title: 'Last failure', className: 'tight', cell: ({ last_at }) => <Ago at={last_at} /> },
        ]}
      />
    </section>
  );
}
