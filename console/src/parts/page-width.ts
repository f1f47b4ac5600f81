import { useCallback, useSyncExternalStore } from 'react';

/** Returns whether the page is at most `px` wide. */
export function useIsBelow(px: number): boolean {
  const query = `(max-width: ${px}px)`;
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}
