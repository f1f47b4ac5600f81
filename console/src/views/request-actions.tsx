import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { act } from '../api/calls';
import type { Action, AdminRequest } from '../api/types';
import { Dialog } from '../parts/dialog';
import { ReasonField, reasonIn } from '../parts/reason-field';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';

const asks: Record<Action, string> = {
  cancel: 'Cancel this request',
  retry: 'Retry as a new request',
  erase: 'Erase input, output and log',
};

export function Actions({ request }: { request: AdminRequest }) {
  const [asked, setAsked] = useState<Action>();
  const [reason, setReason] = useState('');
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const acting = useMutation({
    mutationFn: (action: Action) => act(request.request_id, action, reasonIn(reason)),
    onSuccess: (answer, action) => {
      setAsked(undefined);
      if (action === 'retry' && answer?.request_id) navigate(`/requests/${answer.request_id}`);
      return client.invalidateQueries({ queryKey: ['request', request.request_id] });
    },
  });
  const isOver = request.status === 'COMPLETED';
  const mayErase = isOver && request.erased_at === undefined;
  return (
    <>
      {acting.error !== null && <Failure error={acting.error} />}
      {!isOver && (
        <ActButton className="danger" onClick={() => setAsked('cancel')}>
          Cancel…
        </ActButton>
      )}
      {mayErase && (
        <ActButton disabled={acting.isPending} onClick={() => acting.mutate('retry')}>
          Retry
        </ActButton>
      )}
      {mayErase && (
        <ActButton className="danger" onClick={() => setAsked('erase')}>
          Erase…
        </ActButton>
      )}
      {asked !== undefined && (
        <Dialog title={`${asks[asked]}?`} onClose={() => setAsked(undefined)}>
          <p>
            {asked === 'cancel'
              ? request.status === 'IN_QUEUE'
                ? 'It leaves the queue and never runs.'
                : 'Its run is asked to stop, but may still complete.'
              : 'Its input, output and log are deleted permanently. The request and its outcome stay.'}
          </p>
          <ReasonField value={reason} onChange={setReason} />
          <div className="buttons">
            <button type="button" onClick={() => setAsked(undefined)}>
              Go back
            </button>
            <ActButton
              type="button"
              className="primary danger"
              disabled={acting.isPending}
              onClick={() => acting.mutate(asked)}
            >
              {asks[asked]}
            </ActButton>
          </div>
        </Dialog>
      )}
    </>
  );
}
