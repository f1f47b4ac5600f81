import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Problem } from '../api/client';

const scopeIn = (message: string): string | undefined =>
  /\b(submit|read|cancel|observe|payloads|admin)\b/.exec(message)?.[1];

/** What went wrong, as a sentence, and what to do. */
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

/** The frame at once, old figures greyed while new ones fail to come. */
export function Loaded<T>({ query, rows, children }: LoadedProps<T>) {
  const { data, error, isPending } = query;
  if (data === undefined) {
    if (isPending) return <Bones rows={rows ?? 3} />;
    return <Failure error={error} onRetry={() => void query.refetch()} />;
  }
  return (
    <>
      {error !== null && <Failure error={error} onRetry={() => void query.refetch()} />}
      <div className={error === null ? 'stack' : 'stack stale'}>{children(data)}</div>
    </>
  );
}
