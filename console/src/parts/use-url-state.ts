import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/** `replace`: it is no step to go back from. */
type SetFilters = (change: Record<string, string | undefined>, options?: { replace: boolean }) => void;

/** Filters live in the address: back works, and a link can be sent. */
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
