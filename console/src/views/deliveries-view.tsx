import { useEffect, useEffectEvent, useState } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { readDeliveries, redeliver } from '../api/calls';
import type { Delivery } from '../api/types';
import { counted, duration } from '../format/quantities';
import { State } from '../parts/request-state';
import { ActButton } from '../parts/rights';
import { Failure, Loaded } from '../parts/states';
import { Table } from '../parts/table';
import { Time } from '../parts/time';

const lookEveryMs = 2_000;
const states = { pending: 'waiting', delivered: 'succeeded', failed: 'failed', ended: 'cancelled' } as const;

export const DeliveryState = ({ delivery: { state } }: { delivery: Delivery }) => (
  <State state={states[state]} word={state} />
);

export function Redeliver({ delivery }: { delivery: Delivery }) {
  const client = useQueryClient();
  const again = useMutation({
    mutationFn: () => redeliver(delivery.id),
    onSuccess: () => client.invalidateQueries({ queryKey: ['deliveries'] }),
  });
  const lastTry = delivery.tries.at(-1)?.at;
  const [triedBefore, setTriedBefore] = useState<string>();
  const isSent = again.isSuccess && lastTry !== triedBefore;
  const isAwaited = again.isSuccess && !isSent;
  const look = useEffectEvent(() => {
    for (const name of ['deliveries', 'webhooks']) void client.invalidateQueries({ queryKey: [name] });
  });
  useEffect(() => {
    if (isSent) look();
    if (!isAwaited) return;
    const timer = setInterval(() => look(), lookEveryMs);
    return () => clearInterval(timer);
  }, [isSent, isAwaited]);
  return (
    <>
      <ActButton
        disabled={again.isPending || isAwaited}
        onClick={() => {
          setTriedBefore(lastTry);
          again.mutate();
        }}
      >
        {isAwaited ? 'Sending…' : isSent ? 'Sent again' : 'Send again'}
      </ActButton>
      {again.error !== null && <Failure error={again.error} />}
    </>
  );
}

/** Shows the answer to each try. */
export function Tries({ delivery }: { delivery: Delivery }) {
  const { tries, next_try_at: next } = delivery;
  if (tries.length === 0) return <span className="muted">not tried yet</span>;
  const last = tries.at(-1)!;
  return (
    <details>
      <summary>
        {counted(tries.length, 'try', 'tries')}, last {last.status ?? last.error}
        {next && (
          <>
            , next <Time at={next} />
          </>
        )}
      </summary>
      <ol>
        {tries.map((one) => (
          <li key={one.at}>
            <Time at={one.at} /> {one.status ?? one.error} in {duration(one.duration_ms)}
            {one.body !== null && one.body !== '' && <pre>{one.body}</pre>}
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Reads the deliveries of a request, again while more may come or one is pending. */
export const useDeliveriesOf = (id: string, isOver: boolean, isWanted: boolean) =>
  useQuery({
    // The completion itself may add deliveries.
    queryKey: ['deliveries', id, isOver],
    queryFn: ({ signal }) => readDeliveries(id, signal),
    enabled: isWanted,
    placeholderData: (before) => before,
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && (!isOver || data.data.some(({ state }) => state === 'pending')) && lookEveryMs,
  });

export function DeliveriesOf({ deliveries }: { deliveries: ReturnType<typeof useDeliveriesOf> }) {
  return (
    <Loaded query={deliveries}>
      {({ data }) => (
        <Table
          label="Deliveries"
          rows={data}
          rowKey={({ id }) => id}
          empty="This request has no webhook deliveries."
          columns={[
            { title: 'Event', className: 'tight', cell: ({ event }) => event },
            { title: 'URL', cell: ({ url }) => url },
            { title: 'State', className: 'tight', cell: (delivery) => <DeliveryState delivery={delivery} /> },
            { title: 'Tries', cell: (delivery) => <Tries delivery={delivery} /> },
            { title: '', className: 'tight', cell: (delivery) => <Redeliver delivery={delivery} /> },
          ]}
        />
      )}
    </Loaded>
  );
}
