import { useState } from 'react';
import { Link } from 'wouter';
import { requestPath } from '../api/calls';
import { useDetails } from '../api/request-details';
import type { AdminRequest, LogEntry, RequestDetails } from '../api/types';
import { AsCurl } from '../parts/curl';
import { codeOf, shownState, State } from '../parts/request-state';
import { Loaded } from '../parts/states';
import { DeliveriesOf, useDeliveriesOf } from './deliveries-view';
import { GrowingView } from './growing-view';
import { LogView } from './log-view';
import { PayloadView } from './payload-view';
import { RequestFailure } from './request-failure';

const tabs = ['output', 'input', 'log', 'deliveries'] as const;
export type Tab = (typeof tabs)[number];

/** Returns the tab that is shown: the chosen one, or the one that fits the state of the request. */
export function shownTab(request: RequestDetails, chosen: string | null): Tab {
  const { status, error, erased_at } = request;
  // The full error is shown in place of the output.
  const isExplained = Boolean(error) && erased_at === undefined;
  const fitting = hasOutputOf(request) || isExplained ? 'output' : status === 'IN_PROGRESS' ? 'log' : 'input';
  return tabs.find((name) => name === chosen) ?? fitting;
}

interface ContentProps {
  request: RequestDetails;
  /** The lines that the stream of the request has sent. */
  log: readonly LogEntry[];
  tab: Tab;
  onTab: (tab: Tab) => void;
}

export function Content({ request, log, tab, onTab }: ContentProps) {
  const isOver = request.status === 'COMPLETED';
  const id = request.request_id;
  const path = requestPath(id);
  const deliveries = useDeliveriesOf(id, isOver, isOver || tab === 'deliveries');
  const [lines, setLines] = useState<string>();
  // Reading a log is audited, so its length is known only after the tab was opened.
  const counts: Partial<Record<Tab, string | number>> = {
    log: lines,
    deliveries: deliveries.data?.data.length,
  };
  return (
    <section className="card stack" aria-label="Content of the request">
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
              onClick={() => onTab(name)}
            >
              {name[0]!.toUpperCase() + name.slice(1)}
              {counts[name] !== undefined && <span className="muted">{counts[name]}</span>}
            </button>
          ))}
        </div>
        <span className="end">
          <AsCurl
            calls={[
              { path, what: 'Status' },
              { path: `${path}/status/stream?logs=1`, stream: true, what: 'Status as a stream' },
              { path: `${path}/events`, what: 'Events' },
              { path: `${path}/output/stream`, stream: true, what: 'Output as a stream' },
              { path: `${path}/response`, what: 'Output' },
              { path: `${path}/input`, what: 'Input' },
              { path: `${path}/log`, what: 'Log' },
              { path: `${path}/deliveries`, what: 'Deliveries' },
              ...(isOver ? (['retry', 'erase'] as const) : (['cancel'] as const)).map((action) => ({
                method: 'POST',
                path: `${path}/${action}`,
                what: { cancel: 'Cancel', retry: 'Retry', erase: 'Erase' }[action],
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
        {tab === 'log' && <LogView id={id} isOver={isOver} live={log} onCount={setLines} />}
        {tab === 'deliveries' && <DeliveriesOf deliveries={deliveries} />}
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

/** Shows the old and the new output of a retry side by side. */
function Compared({ request }: { request: RequestDetails }) {
  const { retry_of: old, retried_as: next } = request;
  // After a retry, the user wants to see whether it helped.
  const [isBeside, setBeside] = useState(old !== undefined);
  const other = old ?? next;
  if (other === undefined) return <Output request={request} />;
  const isNew = old !== undefined;
  return (
    <>
      <label className="choice">
        <input type="checkbox" checked={isBeside} onChange={({ target }) => setBeside(target.checked)} />
        <span>Compare with {isNew ? 'the original request' : 'its retry'}</span>
      </label>
      <div className={isBeside ? 'two' : ''}>
        <div className="stack">
          {isBeside && <h2>{isNew ? 'New' : 'Old'}: this request</h2>}
          <Output request={request} />
        </div>
        {isBeside && <Other id={other} title={isNew ? 'Old' : 'New'} />}
      </div>
    </>
  );
}

function Other({ id, title }: { id: string; title: string }) {
  const query = useDetails(id, ({ status }) => status !== 'COMPLETED');
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
  if (!error) return <p className="empty">This request has no output.</p>;
  return <RequestFailure error={error} />;
}
