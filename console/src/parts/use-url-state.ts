import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/** Filters live in the address: back works, and a link can be sent. */
export function useFilters(): [URLSearchParams, (change: Record<string, string | undefined>) => void] {
  const [parameters, setParameters] = useSearchParams();
  const set = useCallback(
    (change: Record<string, string | undefined>) => {
      setParameters((before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(change)) {
          if (value === undefined || value === '') next.delete(name);
          else next.set(name, value);
        }
        return next;
      });
    },
    [setParameters],
  );
  return [parameters, set];
}
