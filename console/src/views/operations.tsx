import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { listOperations, readOperation, stopOperation } from '../api/calls';
import type { Action, Operation } from '../api/types';
import { counted, whole } from '../format/quantities';
import { AsCurl } from '../parts/curl';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';
import { Ago } from '../parts/time';

export const verbs: Record<Action, string> = { cancel: 'Cancel', retry: 'Retry', erase: 'Erase' };
const pasts: Record<Action, string> = { cancel: 'cancelled', retry: 'retried', erase: 'erased' };

const dayMs = 86_400_000;
const shownPast = 10;

interface OperationsProps {
  /** The operation that was just started here. */
  followed: string | undefined;
  onEnded: () => void;
}

/** Shows the operations in progress, the one just started, and the results of the last day. */
export function Operations({ followed, onEnded }: OperationsProps) {
  const operations = useQuery({
    queryKey: ['operations', followed],
    queryFn: ({ signal }) => listOperations(signal),
    placeholderData: (before) => before,
  });
  const [now] = useState(Date.now);
  const all = operations.data?.data ?? [];
  const isShown = ({ id, ended_at }: Operation): boolean => id === followed || ended_at === null;
  const past = all
    .filter((one) => !isShown(one) && now - Date.parse(one.ended_at!) < dayMs)
    .slice(0, shownPast);
  return (
    <>
      {all.filter(isShown).map((operation) => (
        <OperationProgress key={operation.id} operation={operation} onEnded={onEnded} />
      ))}
      {past.length > 0 && (
        <details>
          <summary className="muted">
            {counted(past.length, 'bulk operation')} {past.length === shownPast ? 'or more ' : ''}ended in the
            last 24 h
          </summary>
          <ul className="card stack">
            {past.map((operation) => (
              <li key={operation.id} className="stack">
                <div className="row">
                  <b>{titleOf(operation)}</b>
                  <span>{countsOf(operation)}</span>
                  <span className="muted">
                    by {operation.by}, <Ago at={operation.ended_at} />
                  </span>
                </div>
                <LastError operation={operation} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const titleOf = ({ action, total, state }: Operation): string =>
  `${verbs[action]} ${counted(total, 'request')}: ${state}`;

function countsOf({ action, done, skipped, failed }: Operation): string {
  return [
    `${whole(done)} ${pasts[action]}`,
    ...(skipped > 0 ? [`${whole(skipped)} no longer qualified`] : []),
    ...(failed > 0 ? [`${whole(failed)} failed`] : []),
  ].join(', ');
}

const LastError = ({ operation: { last_error } }: { operation: Operation }) =>
  last_error !== null && (
    <p className="notice bad">
      <span>Last error: {last_error}</span>
    </p>
  );

/** The operation continues even if no page shows it. */
function OperationProgress({ operation: given, onEnded }: { operation: Operation; onEnded: () => void }) {
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
  const tellEnd = useEffectEvent(onEnded);
  const isOver = ended_at !== null;
  useEffect(() => {
    if (isOver) tellEnd();
  }, [isOver]);
  const verb = verbs[action];
  const seen = done + skipped + failed;
  return (
    <section className="card stack" aria-label={`${verb} ${counted(total, 'request')}`}>
      <div className="row">
        <h2>
          {state === 'collecting'
            ? `${verb}: finding requests, ${whole(total)} so far`
            : titleOf(reading.data)}
        </h2>
        <span className="muted">{by ? `started by ${by}` : ''}</span>
        <span className="end">
          <AsCurl calls={[{ path: `v1/admin/operations/${given.id}`, what: 'Progress' }]} />
          {!isOver && (
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
        <progress aria-label="Finding requests" />
      ) : (
        <progress max={Math.max(1, total)} value={seen} aria-label={`${whole(seen)} of ${whole(total)}`} />
      )}
      <p className="small muted">
        {countsOf(reading.data)}
        {!isOver && '. You can leave this page: the operation continues.'}
      </p>
      <LastError operation={reading.data} />
      {stopping.error !== null && <Failure error={stopping.error} />}
    </section>
  );
}
