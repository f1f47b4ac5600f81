import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { operation, previewOperation, startOperation } from '../api/calls';
import type { Action, Operation, RequestFilter } from '../api/types';
import { whole } from '../format/quantities';
import { AsCurl } from '../parts/curl';
import { Dialog } from '../parts/dialog';
import { ReasonField, reasonIn } from '../parts/reason-field';
import { shownState, State } from '../parts/request-state';
import { ActButton } from '../parts/rights';
import { Bones, Failure } from '../parts/states';
import { Ago } from '../parts/time';
import { verbs } from './operations';

const effects: Record<Action, string> = {
  cancel: 'Waiting requests leave the queue. Running requests are asked to stop.',
  retry: 'Each completed request is submitted again with the same input.',
  erase: 'Inputs, outputs and logs are deleted permanently. The requests and their outcomes stay.',
};

/** The service freezes the requests of an operation when it starts. */
const later: Record<Action, string> = {
  cancel: 'Requests that are submitted after you press the button are not included.',
  retry: 'Requests that complete after you press the button are not included.',
  erase: 'Requests that complete after you press the button are not included.',
};

interface OperationDialogProps {
  action: Action;
  filter: RequestFilter;
  onClose: () => void;
  onStarted: (operation: Operation) => void;
}

/** Asks for confirmation once, with the count and three examples. */
export function OperationDialog({ action, filter, onClose, onStarted }: OperationDialogProps) {
  const verb = verbs[action];
  const isSelection = filter.ids !== undefined;
  const preview = useQuery({
    queryKey: ['operation-preview', action, filter],
    queryFn: () => previewOperation(filter, action),
    gcTime: 0,
    // The operation includes what has come until it starts, so the count stays current.
    refetchInterval: 5_000,
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
      title={`${verb} ${isSelection ? 'the selected requests' : 'all requests found'}?`}
      onClose={onClose}
    >
      <p>{effects[action]}</p>
      {preview.isPending && <Bones />}
      {preview.error !== null && <Failure error={preview.error} onRetry={() => void preview.refetch()} />}
      {preview.data !== undefined && (
        <>
          <p>
            <b>{count!.value === 0 ? 'No request' : `${said} request${count!.value === 1 ? '' : 's'}`}</b>{' '}
            {count!.value === 0 ? 'qualifies for this action.' : 'found now.'} {!isSelection && later[action]}
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
          Go back
        </button>
        <ActButton
          type="button"
          className={action === 'retry' ? 'primary' : 'primary danger'}
          disabled={!count?.value || starting.isPending}
          onClick={() => starting.mutate()}
        >
          {verb} {said} {count?.value === 1 ? 'request' : 'requests'}
        </ActButton>
      </div>
    </Dialog>
  );
}
