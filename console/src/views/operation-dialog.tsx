import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { operation, previewOperation, readOperation, startOperation, stopOperation } from '../api/calls';
import type { Action, Operation, RequestFilter } from '../api/types';
import { counted, whole } from '../format/quantities';
import { AsCurl } from '../parts/curl';
import { Dialog } from '../parts/dialog';
import { ReasonField, reasonIn } from '../parts/reason-field';
import { shownState, State } from '../parts/request-state';
import { ActButton } from '../parts/rights';
import { Bones, Failure } from '../parts/states';
import { Ago } from '../parts/time';

const verbs: Record<Action, [verb: string, what: string, done: string]> = {
  cancel: ['Cancel', 'Those that wait leave the queue; those that run are asked to stop.', 'cancelled'],
  retry: ['Retry', 'Each that completed is submitted again, with the input that it had.', 'retried'],
  erase: [
    'Erase',
    'Inputs, outputs and logs are gone for good; that the requests were there stays.',
    'erased',
  ],
};

interface OperationDialogProps {
  action: Action;
  filter: RequestFilter;
  onClose: () => void;
  onStarted: (operation: Operation) => void;
}

/** Asks once, with the count and three examples. */
export function OperationDialog({ action, filter, onClose, onStarted }: OperationDialogProps) {
  const [verb, what] = verbs[action];
  const preview = useQuery({
    queryKey: ['operation-preview', action, filter],
    queryFn: () => previewOperation(filter, action),
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const [reason, setReason] = useState('');
  const starting = useMutation({
    mutationFn: () => startOperation(filter, action, reasonIn(reason)),
    onSuccess: onStarted,
  });
  const count = preview.data?.count;
  const said = count === undefined ? '' : `${whole(count.value)}${count.is_exact ? '' : ' or more'}`;
  return (
    <Dialog
      title={`${verb} ${filter.ids === undefined ? 'all that is found' : 'those marked'}?`}
      onClose={onClose}
    >
      <p>{what}</p>
      {preview.isPending && <Bones />}
      {preview.error !== null && <Failure error={preview.error} onRetry={() => void preview.refetch()} />}
      {preview.data !== undefined && (
        <>
          <p>
            <b>{count!.value === 0 ? 'No request' : `${said} request${count!.value === 1 ? '' : 's'}`}</b>{' '}
            {count!.value === 0
              ? 'qualifies for this.'
              : 'of what is found now; what comes later is left alone.'}
          </p>
          <ul className="stack">
            {preview.data.sample.slice(0, 3).map((request) => (
              <li key={request.request_id} className="row small">
                <State state={shownState(request)} />
                <span className="id">{request.request_id.slice(0, 13)}…</span>
                <span>{request.model_id}</span>
                <span className="muted">
                  <Ago at={request.created_at} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      <ReasonField value={reason} onChange={setReason} />
      {starting.error !== null && <Failure error={starting.error} />}
      <div className="buttons">
        <AsCurl
          calls={[
            {
              method: 'POST',
              path: 'v1/admin/operations',
              body: { ...operation(filter, action, false), ...reasonIn(reason) },
              what: 'This operation',
            },
          ]}
        />
        <button type="button" onClick={onClose}>
          Leave them
        </button>
        <button
          type="button"
          className={action === 'retry' ? 'primary' : 'primary danger'}
          disabled={!count?.value || starting.isPending}
          onClick={() => starting.mutate()}
        >
          {verb} {said} {count?.value === 1 ? 'request' : 'requests'}
        </button>
      </div>
    </Dialog>
  );
}

/** It goes on whether somebody looks or not. */
export function OperationProgress({ operation: given }: { operation: Operation }) {
  const reading = useQuery({
    queryKey: ['operation', given.id],
    queryFn: ({ signal }) => readOperation(given.id, signal),
    initialData: given,
    refetchInterval: ({ state }) => (state.data?.ended_at ? false : 700),
  });
  const stopping = useMutation({
    mutationFn: () => stopOperation(given.id),
    onSuccess: () => reading.refetch(),
  });
  const { action, state, total, done, skipped, failed, ended_at, by } = reading.data;
  const [verb, , past] = verbs[action];
  const seen = done + skipped + failed;
  const parts = [
    `${whole(done)} ${past}`,
    ...(skipped > 0 ? [`${whole(skipped)} no longer qualified`] : []),
    ...(failed > 0 ? [`${whole(failed)} failed`] : []),
  ];
  return (
    <section className="card stack" aria-label={`${verb} ${counted(total, 'request')}`}>
      <div className="row">
        <h2>
          {state === 'collecting'
            ? `${verb}: finding requests, ${whole(total)} so far`
            : `${verb} ${counted(total, 'request')}: ${state}`}
        </h2>
        <span className="muted">{by ? `started by ${by}` : ''}</span>
        <span className="end">
          <AsCurl calls={[{ path: `v1/admin/operations/${given.id}`, what: 'How far it is' }]} />
          {ended_at === null && (
            <ActButton
              disabled={stopping.isPending || state === 'stopping'}
              onClick={() => stopping.mutate()}
            >
              {state === 'collecting' ? 'Stop' : `Stop after ${whole(seen)}`}
            </ActButton>
          )}
        </span>
      </div>
      {state === 'collecting' ? (
        <progress aria-label="Requests are being found" />
      ) : (
        <progress max={Math.max(1, total)} value={seen} aria-label={`${whole(seen)} of ${whole(total)}`} />
      )}
      <p className="small muted">
        {parts.join(', ')}
        {ended_at === null && '. You may leave: it goes on.'}
      </p>
      {stopping.error !== null && <Failure error={stopping.error} />}
    </section>
  );
}
