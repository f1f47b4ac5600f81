import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { readDeliveries, readHistory, readRequest, requestPath } from '../api/calls';
import { useLive } from '../api/live';
import { useRequestStream } from '../api/request-stream';
import type { AdminRequest, LogEntry, RequestDetails } from '../api/types';
import { counted } from '../format/quantities';
import { Id } from '../parts/copy';
import { AsCurl } from '../parts/curl';
import { useNow } from '../parts/now';
import { codeOf, followedBy, shownState, State } from '../parts/request-state';
import { Bones, Failure, Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Time, Took } from '../parts/time';
import { useFilters } from '../parts/use-url-state';
import { sentenceOf } from '../request/sentence';
import { DeliveryState, Redeliver, Tries } from './deliveries-view';
import { GrowingView } from './growing-view';
import { LogView } from './log-view';
import { PayloadView } from './payload-view';
import { ProgressBar } from './progress-bar';
import { Actions } from './request-actions';
import { TimelineView } from './timeline-view';

export default function RequestView({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['request', id],
    queryFn: ({ signal }) => readRequest(id, signal),
  });
  return (
    <main className="page">
      {query.data === undefined ? (
        <>
          <div className="head">
            <h1>Request</h1>
            <Id id={id} />
          </div>
          {query.error === null ? (
            <Bones rows={6} />
          ) : (
            <Failure error={query.error} onRetry={() => void query.refetch()} />
          )}
        </>
      ) : (
        <Life id={id} read={query.data} />
      )}
    </main>
  );
}

function Life({ id, read }: { id: string; read: RequestDetails }) {
  const stream = useRequestStream(id, read.status !== 'COMPLETED');
  const request = followedBy(read, stream.status);
  const { overview } = useLive();
  const isOver = request.status === 'COMPLETED';
  const history = useQuery({
    // Each change of the state is an event.
    queryKey: ['history', id, request.status, request.attempt, request.reason],
    queryFn: ({ signal }) => readHistory(id, signal),
    placeholderData: (before) => before,
  });
  const events = history.data?.data ?? [];
  const now = useNow();
  const model = overview?.models.find(({ id }) => id === request.model_id);
  const positions = [...(history.data?.positions ?? []), ...stream.positions];
  // What was read first may be of an attempt before.
  const { progress } = stream.status.status === undefined ? read : stream.status;
  return (
    <>
      <div className="head">
        <h1>
          <Link href={`/models/${request.model_id}`}>{request.model_id}</Link>
        </h1>
        <State state={shownState(request)} note={codeOf(request)} />
        <Id id={request.request_id} />
        <span className="end">
          <Actions request={request} />
        </span>
      </div>
      <p className="sentence">{sentenceOf({ request, events, model, now })}</p>
      {request.status === 'IN_PROGRESS' && progress !== undefined && <ProgressBar {...progress} />}
      <section className="card" aria-label="Its life">
        <Loaded query={history}>
          {(read) => <TimelineView history={{ ...read, positions }} isOver={isOver} />}
        </Loaded>
      </section>
      <Content request={request} logs={stream.logs} />
      <Facts request={request} />
    </>
  );
}

const tabs = ['output', 'input', 'log', 'deliveries'] as const;
type Tab = (typeof tabs)[number];

/** Which tab is shown is in the address, so that a link leads to the log. */
function Content({ request, logs }: { request: RequestDetails; logs: readonly LogEntry[] }) {
  const isOver = request.status === 'COMPLETED';
  const [parameters, setFilters] = useFilters();
  const chosen = tabs.find((name) => name === parameters.get('tab'));
  const id = request.request_id;
  const hasOutput = hasOutputOf(request);
  const tab: Tab =
    chosen ?? (hasOutput ? 'output' : isOver || request.status === 'IN_QUEUE' ? 'input' : 'log');
  const path = requestPath(id);
  return (
    <section className="card stack" aria-label="Its content">
      <div className="row">
        <div className="tabs" role="tablist" aria-label="Content">
          {tabs.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={name === tab}
              aria-controls="content"
              onClick={() => setFilters({ tab: name }, { replace: true })}
            >
              {name[0]!.toUpperCase() + name.slice(1)}
            </button>
          ))}
        </div>
        <span className="end">
          <AsCurl
            calls={[
              { path, what: 'Its status' },
              { path: `${path}/status/stream?logs=1`, stream: true, what: 'The same as it changes' },
              { path: `${path}/events`, what: 'What happened to it' },
              { path: `${path}/output/stream`, stream: true, what: 'Its output while it grows' },
              { path: `${path}/response`, what: 'Its output' },
              { path: `${path}/input`, what: 'Its input' },
              { path: `${path}/log`, what: 'Its log' },
              { path: `${path}/deliveries`, what: 'Its deliveries' },
              ...(isOver ? (['retry', 'erase'] as const) : (['cancel'] as const)).map((action) => ({
                method: 'POST',
                path: `${path}/${action}`,
                body: { reason: 'asked for by its owner' },
                what: { cancel: 'Cancel it', retry: 'Retry it', erase: 'Erase its content' }[action],
              })),
            ]}
          />
        </span>
      </div>
      <div role="tabpanel" id="content" aria-labelledby={`tab-${tab}`} className="stack">
        {tab === 'output' && <Compared request={request} />}
        {tab === 'input' &&
          (request.erased_at === undefined ? (
            <PayloadView path={`${path}/input`} name="input" size={request.input_bytes} />
          ) : (
            <p className="empty">The input was erased.</p>
          ))}
        {tab === 'log' && <LogView id={id} live={logs} isOver={isOver} />}
        {tab === 'deliveries' && <Deliveries id={id} />}
      </div>
    </section>
  );
}

const hasOutputOf = ({ outcome, erased_at }: AdminRequest): boolean =>
  outcome === 'succeeded' && erased_at === undefined;

function Output({ request }: { request: RequestDetails }) {
  const { request_id: id, status } = request;
  if (status !== 'COMPLETED') return <GrowingView key={id} id={id} />;
  if (!hasOutputOf(request)) return <NoOutput request={request} />;
  return <PayloadView path={`${requestPath(id)}/response`} name="output" size={request.output_bytes} />;
}

/** Of a retry, the old outcome beside the new. */
function Compared({ request }: { request: RequestDetails }) {
  const { retry_of: old, retried_as: next } = request;
  // Who retried wants to see whether it helped.
  const [isBeside, setBeside] = useState(old !== undefined);
  const other = old ?? next;
  if (other === undefined) return <Output request={request} />;
  const isNew = old !== undefined;
  return (
    <>
      <label className="choice">
        <input type="checkbox" checked={isBeside} onChange={({ target }) => setBeside(target.checked)} />
        <span>Beside the {isNew ? 'request that it repeats' : 'request that repeats it'}</span>
      </label>
      <div className={isBeside ? 'two' : ''}>
        <div className="stack">
          {isBeside && <h2>{isNew ? 'New' : 'Old'}: this one</h2>}
          <Output request={request} />
        </div>
        {isBeside && <Other id={other} title={isNew ? 'Old' : 'New'} />}
      </div>
    </>
  );
}

function Other({ id, title }: { id: string; title: string }) {
  const query = useQuery({ queryKey: ['request', id], queryFn: ({ signal }) => readRequest(id, signal) });
  return (
    <div className="stack">
      <h2>
        {title}: <Link href={`/requests/${id}`}>{id.slice(0, 8)}…</Link>
      </h2>
      <Loaded query={query}>
        {(request) => (
          <>
            <State state={shownState(request)} note={codeOf(request)} />
            <Output request={request} />
          </>
        )}
      </Loaded>
    </div>
  );
}

function NoOutput({ request: { erased_at, error } }: { request: AdminRequest }) {
  if (erased_at !== undefined) return <p className="empty">The output was erased.</p>;
  if (!error) return <p className="empty">It has no output.</p>;
  return (
    <>
      <p className="notice bad">
        <code>{error.code}</code> {error.message}
      </p>
      {error.details !== undefined && <pre>{JSON.stringify(error.details, null, 2).slice(0, 20_000)}</pre>}
    </>
  );
}

function Deliveries({ id }: { id: string }) {
  const deliveries = useQuery({
    queryKey: ['deliveries', id],
    queryFn: ({ signal }) => readDeliveries(id, signal),
  });
  return (
    <Loaded query={deliveries}>
      {({ data }) => (
        <Table
          label="Deliveries"
          rows={data}
          rowKey={({ id }) => id}
          empty="Nobody is told of this request by a webhook."
          columns={[
            { title: 'Where', cell: ({ url }) => url },
            { title: 'State', className: 'tight', cell: (delivery) => <DeliveryState delivery={delivery} /> },
            { title: 'Tries', cell: (delivery) => <Tries delivery={delivery} /> },
            { title: '', className: 'tight', cell: (delivery) => <Redeliver delivery={delivery} /> },
          ]}
        />
      )}
    </Loaded>
  );
}

function Facts({ request }: { request: AdminRequest }) {
  const { metrics, key, tags, retry_of, retried_as } = request;
  const facts: [string, React.ReactNode][] = [
    [
      'Key',
      <Link key="key" href={`/requests?key_id=${key.id}`}>
        {key.name}
      </Link>,
    ],
    ['Submitted', <Time key="at" at={request.created_at} />],
  ];
  if (request.started_at) facts.push(['Last started', <Time key="at" at={request.started_at} />]);
  if (request.completed_at) facts.push(['Completed', <Time key="at" at={request.completed_at} />]);
  if (request.priority) facts.push(['Priority', request.priority]);
  // The attempt that is next counts already.
  if (request.started_at) facts.push(['Attempts', counted(request.attempt, 'attempt')]);
  if (metrics.queue_time !== undefined)
    facts.push(['Waited', <Took key="took" ms={metrics.queue_time * 1_000} />]);
  if (typeof metrics.inference_time === 'number')
    facts.push(['Ran', <Took key="took" ms={metrics.inference_time * 1_000} />]);
  if (tags.length > 0) {
    const links = tags.map((tag) => (
      <Link key={tag} className="chip" href={`/requests?tag=${encodeURIComponent(tag)}`}>
        {tag}
      </Link>
    ));
    facts.push([
      'Tags',
      <span className="row" key="tags">
        {links}
      </span>,
    ]);
  }
  if (retry_of)
    facts.push([
      'Repeats',
      <Link key="r" className="id" href={`/requests/${retry_of}`}>
        {retry_of}
      </Link>,
    ]);
  if (retried_as)
    facts.push([
      'Repeated by',
      <Link key="r" className="id" href={`/requests/${retried_as}`}>
        {retried_as}
      </Link>,
    ]);
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
