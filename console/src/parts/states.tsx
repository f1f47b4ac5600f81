import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Problem } from '../api/client';
import { useOutage } from '../api/live';
import { Time } from './time';

const scopeIn = (message: string): string | undefined =>
  /\b(submit|read|cancel|observe|payloads|admin)\b/.exec(message)?.[1];

/** Shows an error as a sentence, and what to do. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = error instanceof Problem ? error : undefined;
  const isForbidden = problem?.status === 403 && problem.code !== 'rate_limited';
  const scope = isForbidden ? scopeIn(problem.message) : undefined;
  return (
    <div className={`notice ${isForbidden ? 'warn' : 'bad'}`} role="alert">
      <span>
        {isForbidden ? 'Your key may not see this. ' : ''}
        {error instanceof Error ? error.message : String(error)}
        {scope !== undefined && ` Ask for a key with the scope “${scope}”.`}
        {problem !== undefined && problem.errors.length > 0 && <Faults errors={problem.errors} />}
      </span>
      {onRetry !== undefined && !isForbidden && (
        <span className="end">
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        </span>
      )}
    </div>
  );
}

const shownFaults = 8;

function Faults({ errors }: Pick<Problem, 'errors'>) {
  return (
    <ul>
      {errors.slice(0, shownFaults).map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          {path !== '' && <code>{path}</code>} {message}
        </li>
      ))}
      {errors.length > shownFaults && <li>and {errors.length - shownFaults} more</li>}
    </ul>
  );
}

export function Bones({ rows = 3 }: { rows?: number }) {
  return (
    <div className="bones" role="status">
      <span className="hidden">Loading</span>
      {Array.from({ length: rows }, (_, i) => (
        <i key={i} />
      ))}
    </div>
  );
}

interface LoadedProps<T> {
  query: UseQueryResult<T>;
  rows?: number;
  children: (data: T) => ReactNode;
}

/** Shows a placeholder until the data is read. Old data is greyed while it cannot be read again. */
export function Loaded<T>({ query, rows, children }: LoadedProps<T>) {
  const { data, error, isPending, dataUpdatedAt } = query;
  const retry = (): void => void query.refetch();
  if (data === undefined) {
    if (isPending) return <Bones rows={rows ?? 3} />;
    return <Failure error={error} onRetry={retry} />;
  }
  return (
    <Dated error={error} readAt={dataUpdatedAt} onRetry={retry}>
      {children(data)}
    </Dated>
  );
}

interface DatedProps {
  /** The error of the last attempt to read it again. */
  error: Error | null;
  /** When the data was read, in milliseconds since 1970. */
  readAt: number;
  onRetry: () => void;
  children: ReactNode;
}

/** Shows data that was read before, with its time if it cannot be read again. */
export function Dated({ error, readAt, onRetry, children }: DatedProps) {
  const outage = useOutage();
  const isOld = error !== null || outage !== undefined;
  return (
    <>
      {/* The page already reports an outage. */}
      {error !== null && outage === undefined && <Failure error={error} onRetry={onRetry} />}
      {isOld && (
        <p className="small muted">
          Data as of <Time at={new Date(readAt).toISOString()} />.
        </p>
      )}
      <div className={isOld ? 'stack stale' : 'stack'}>{children}</div>
    </>
  );
}
