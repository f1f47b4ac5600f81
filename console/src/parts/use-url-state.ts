import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/** `replace`: the change adds no entry to the history. */
type SetFilters = (change: Record<string, string | undefined>, options?: { replace: boolean }) => void;

/** Filters are kept in the address, so that back works and a link can be shared. */
export function useFilters(): [URLSearchParams, SetFilters] {
  const [parameters, setParameters] = useSearchParams();
  const set = useCallback<SetFilters>(
    (change, options) => {
      setParameters((before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(change)) {
          if (value === undefined || value === '') next.delete(name);
          else next.set(name, value);
        }
        return next;
      }, options);
    },
    [setParameters],
  );
  return [parameters, set];
}
