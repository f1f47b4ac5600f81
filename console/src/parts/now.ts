import { useSyncExternalStore } from 'react';

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** One clock for the page. It ticks at most once a second, and not while the page is hidden. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

/**
 * Returns a text that depends on the time. The component renders again only when the text changes, not every second,
 * because a list has hundreds of them.
 */
export const useNowText = (text: (now: number) => string): string =>
  useSyncExternalStore(subscribe, () => text(now));
