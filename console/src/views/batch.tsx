import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { serviceAddress } from '../api/base';
import { batchPath, cancelBatch, readBatch } from '../api/calls';
import type { AdminBatch } from '../api/types';
import { bytes, counted, whole } from '../format/quantities';
import { ConfirmedAction } from '../parts/confirmed-action';
import { AsCurl } from '../parts/curl';
import { State, type ShownState } from '../parts/request-state';
import { useMay } from '../parts/rights';
import { Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Since, Time } from '../parts/time';
import { BatchState, doneOf, Lines } from './batch-parts';

export default function Batch({ id }: { id: string }) {
  const batch = useQuery({
    queryKey: ['batches', id],
    queryFn: ({ signal }) => readBatch(id, signal),
    refetchInterval: ({ state }) => (state.data?.ended_at ? false : 2_000),
  });
  return (
    <main className="page">
      <div className="head">
        <h1>
          Batch <span className="id">{id.slice(0, 8)}…</span>
        </h1>
        <span className="end">
          <AsCurl calls={[{ path: batchPath(id) }]} />
        </span>
      </div>
      <Loaded query={batch} rows={6}>
        {(read) => (
          <>
            <section className="card stack" aria-label="Progress">
              <div className="row">
                <BatchState status={read.status} />
                <span>{sentenceOf(read)}</span>
                {read.ended_at === null && read.cancelling_at === null && (
                  <span className="end">
                    <Cancel batch={read} />
                  </span>
                )}
              </div>
              <Lines batch={read} />
              {read.counts.total !== null && <Counts counts={read.counts} />}
              <Files batch={read} />
            </section>
            <Facts batch={read} />
            {read.errors.length > 0 && <Faults errors={read.errors} />}
          </>
        )}
      </Loaded>
    </main>
  );
}

const lines = (count: number): string => counted(count, 'line');

/** Returns a sentence about the state of the batch. */
function sentenceOf({ status, counts, errors }: AdminBatch): string {
  const rest = (counts.total ?? 0) - doneOf(counts);
  switch (status) {
    case 'validating':
      return 'The input is being checked. No request is submitted yet.';
    case 'in_progress':
      return `${counted(rest, 'line remains', 'lines remain')}.`;
    case 'finalizing':
      return 'The last results are being written to the files.';
    case 'completed':
      return counts.failed === 0
        ? 'All lines succeeded.'
        : `All lines are done; ${whole(counts.failed)} failed.`;
    case 'failed':
      return `The input is invalid: ${errors.length >= 100 ? 'at least ' : ''}${counted(errors.length, 'error')}. No request was submitted.`;
    case 'cancelling':
      return 'The batch is being cancelled. Its running lines end first.';
    case 'cancelled':
      return `The batch was cancelled after ${lines(counts.completed)} had succeeded.`;
    case 'expired':
      return `The batch expired after ${lines(counts.completed)} had succeeded.`;
  }
}

const outcomes: [keyof Omit<AdminBatch['counts'], 'total'>, ShownState][] = [
  ['waiting', 'waiting'],
  ['running', 'running'],
  ['completed', 'succeeded'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['expired', 'expired'],
];

const Counts = ({ counts }: Pick<AdminBatch, 'counts'>) => (
  <div className="row">
    {outcomes
      .filter(([name]) => counts[name] > 0)
      .map(([name, state]) => (
        <State key={name} state={state} word={`${whole(counts[name])} ${state}`} />
      ))}
  </div>
);

/** Links to the two files, for those who may read payloads. */
function Files({ batch: { batch_id: id, output_bytes, error_bytes, counts } }: { batch: AdminBatch }) {
  const isAllowed = useMay('payloads');
  const failed = counts.failed + counts.cancelled + counts.expired;
  if (counts.completed + failed === 0) return null;
  if (!isAllowed)
    return <p className="muted">To see the output and the errors, your key needs the scope “payloads”.</p>;
  const link = (file: 'output' | 'errors', count: number, stored: number) => (
    <a href={serviceAddress(`${batchPath(id)}/${file}`)} download={`${id}-${file}.jsonl`}>
      {file === 'output' ? 'Output' : 'Errors'}: {lines(count)}
      {stored > 0 && `, ${bytes(stored)}`}
    </a>
  );
  return (
    <div className="row">
      {counts.completed > 0 && link('output', counts.completed, output_bytes)}
      {failed > 0 && link('errors', failed, error_bytes)}
    </div>
  );
}

function Facts({ batch }: { batch: AdminBatch }) {
  const {
    batch_id: id,
    key,
    model_id: model,
    tag,
    priority,
    created_at,
    started_at,
    ended_at,
    expires_at,
  } = batch;
  const facts: [string, React.ReactNode][] = [
    [
      'Key',
      <Link key="key" href={`/batches?key_id=${key.id}`}>
        {key.name ?? 'a deleted key'}
      </Link>,
    ],
    [
      'Model',
      model === null ? (
        'set by each line'
      ) : (
        <Link key="model" href={`/models/${model}`}>
          {model}
        </Link>
      ),
    ],
    ['Priority', priority],
    ['Tag', tag ?? '–'],
    ['Created', <Time key="created" at={created_at} />],
    ['Started', <Time key="started" at={started_at} />],
    ended_at === null
      ? ['Expires', <Time key="expires" at={expires_at} />]
      : ['Ended', <Time key="ended" at={ended_at} />],
    ...(started_at !== null && ended_at === null
      ? ([['Running for', <Since key="since" at={started_at} />]] satisfies [string, React.ReactNode][])
      : []),
    [
      'Requests',
      <Link key="requests" href={`/requests?tag=${encodeURIComponent(`batch:${id}`)}`}>
        requests of this batch
      </Link>,
    ],
  ];
  return (
    <section className="card" aria-label="Facts">
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const Faults = ({ errors }: Pick<AdminBatch, 'errors'>) => (
  <section className="card stack" aria-label="Input errors">
    <h2>Input errors</h2>
    <Table
      label="Input errors"
      rows={errors}
      rowKey={({ line, code, message }) => `${line} ${code} ${message}`}
      columns={[
        {
          title: 'Line',
          className: 'tight number',
          cell: ({ line }) => (line === null ? 'all' : whole(line)),
        },
        { title: 'Code', className: 'tight', cell: ({ code }) => <code>{code}</code> },
        { title: 'Error', className: 'wraps', cell: ({ message }) => message },
      ]}
    />
  </section>
);

function Cancel({ batch: { batch_id: id, counts } }: { batch: AdminBatch }) {
  const client = useQueryClient();
  return (
    <ConfirmedAction
      label="Cancel…"
      title="Cancel this batch?"
      verb="Cancel this batch"
      isDanger
      act={(reason) => cancelBatch(id, reason)}
      onDone={() => client.invalidateQueries({ queryKey: ['batches'] })}
    >
      {counts.total === null
        ? 'No line is submitted.'
        : `${counted(counts.waiting, 'waiting line never runs', 'waiting lines never run')}. ${counted(counts.running, 'running line is', 'running lines are')} asked to stop.`}{' '}
      The output keeps the lines that succeeded.
    </ConfirmedAction>
  );
}
