import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { cancelRequest, eraseRequest, retryRequest } from '../api/calls';
import type { AdminRequest } from '../api/types';
import { ConfirmedAction } from '../parts/confirmed-action';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';

export function Actions({ request }: { request: AdminRequest }) {
  const { request_id: id, handle, status, erased_at } = request;
  const [, navigate] = useLocation();
  const client = useQueryClient();
  // Its history and its log change too. The address of the page may have its handle.
  const reread = () =>
    client.invalidateQueries({
      predicate: ({ queryKey }) => queryKey.includes(id) || queryKey.includes(handle),
    });
  const retrying = useMutation({
    mutationFn: () => retryRequest(id),
    onSuccess: (answer) => {
      navigate(`/requests/${answer.request_id}`);
      return reread();
    },
  });
  if (status !== 'COMPLETED') {
    return (
      <ConfirmedAction
        label="Cancel…"
        className="danger"
        title="Cancel this request?"
        verb="Cancel this request"
        isDanger
        act={(reason) => cancelRequest(id, reason)}
        onDone={reread}
      >
        {status === 'IN_QUEUE'
          ? 'It leaves the queue and never runs.'
          : 'Its run is asked to stop, but may still complete.'}
      </ConfirmedAction>
    );
  }
  if (erased_at !== undefined) return null;
  return (
    <>
      {retrying.error !== null && <Failure error={retrying.error} />}
      <ActButton disabled={retrying.isPending} onClick={() => retrying.mutate()}>
        Retry
      </ActButton>
      <ConfirmedAction
        label="Erase…"
        className="danger"
        title="Erase input, output and log?"
        verb="Erase input, output and log"
        isDanger
        act={(reason) => eraseRequest(id, reason)}
        onDone={reread}
      >
        Its input, output and log are deleted permanently. The request and its outcome stay.
      </ConfirmedAction>
    </>
  );
}
