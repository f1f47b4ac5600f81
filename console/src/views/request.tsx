import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { Link } from 'wouter';
import { readHistory } from '../api/calls';
import { useLive } from '../api/live';
import { isHeld, useDetails } from '../api/request-details';
import { useRequestStream } from '../api/request-stream';
import { showRow } from '../api/shown-rows';
import type { RequestDetails } from '../api/types';
import { Id } from '../parts/copy';
import { useNow } from '../parts/now';
import { codeOf, followedBy, shownState, State } from '../parts/request-state';
import { useMay } from '../parts/rights';
import { Bones, Failure, Loaded } from '../parts/states';
import { useFilters } from '../parts/use-url-state';
import { sentenceOf } from '../request/sentence';
import { ProgressBar } from './progress-bar';
import { Actions } from './request-actions';
import { Content, shownTab, type Tab } from './request-content';
import { Facts } from './request-facts';
import { TimelineView } from './timeline-view';

export default function RequestView({ id }: { id: string }) {
  const query = useDetails(id, isHeld);
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
  const mayReadPayloads = useMay('payloads');
  const [parameters, setFilters] = useFilters();
  // The selected tab is kept in the address, so that a link can lead to the log.
  const tabOf = (request: RequestDetails): Tab => shownTab(request, parameters.get('tab'));
  const stream = useRequestStream(
    id,
    read.status !== 'COMPLETED',
    (status) => mayReadPayloads && tabOf(followedBy(read, status)) === 'log',
  );
  const request = followedBy(read, stream.status);
  const { overview } = useLive();
  const isOver = request.status === 'COMPLETED';
  const client = useQueryClient();
  // The cached lists get the current state too, for a reader who goes back.
  const show = useEffectEvent(() => showRow(client, request));
  useEffect(() => show(), [request.status, request.outcome, request.attempt, request.erased_at]);
  const history = useQuery({
    // Each change of the state is an event.
    queryKey: ['history', id, request.status, request.attempt, request.reason],
    queryFn: ({ signal }) => readHistory(id, signal),
    placeholderData: (before) => before,
  });
  const events = history.data?.data ?? [];
  const now = useNow();
  const model = overview?.models.find(({ id }) => id === request.model_id);
  const isModelGone = overview !== undefined && model === undefined;
  const positions = [...(history.data?.positions ?? []), ...stream.positions];
  // The initial data may belong to an earlier attempt.
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
      <p className="sentence">{sentenceOf({ request, events, model, isModelGone, now })}</p>
      {request.status === 'IN_PROGRESS' && progress !== undefined && <ProgressBar {...progress} />}
      <section className="card" aria-label="Timeline">
        <Loaded query={history}>
          {(read) => <TimelineView history={{ ...read, positions }} isOver={isOver} />}
        </Loaded>
      </section>
      <Content
        request={request}
        log={stream.logs}
        tab={tabOf(request)}
        onTab={(tab) => setFilters({ tab }, { replace: true })}
      />
      <Facts request={request} starts={events.filter(({ kind }) => kind === 'started').length} />
    </>
  );
}
