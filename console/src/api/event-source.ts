import { serviceAddress } from './base';

/** Sent to all of them, by whoever has found out. */
const returns = new EventTarget();

/** The service answers again after a silence. */
export const sayReturned = (): boolean => returns.dispatchEvent(new Event('returned'));

/**
 * Keeps an event source open while somebody looks, and opens it again 2 s after it broke. What it returns ends it.
 * Between its events there are comments alone, which a browser hides: that the connection went silent it is told by the
 * one stream of the tab that can know.
 */
export function keepOpen(
  pathNow: () => string,
  listen: (source: EventSource, close: () => void) => void,
): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const open = (): void => {
    clearTimeout(timer);
    if (isOver || source !== undefined || document.hidden) return;
    source = new EventSource(serviceAddress(pathNow()));
    listen(source, () => {
      isOver = true;
      close();
    });
    source.addEventListener('error', () => {
      close();
      timer = setTimeout(open, 2_000);
    });
  };
  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const look = (): void => (document.hidden ? close() : open());
  const again = (): void => {
    close();
    open();
  };
  open();
  document.addEventListener('visibilitychange', look);
  window.addEventListener('offline', close);
  window.addEventListener('online', again);
  returns.addEventListener('returned', again);
  return () => {
    document.removeEventListener('visibilitychange', look);
    window.removeEventListener('offline', close);
    window.removeEventListener('online', again);
    returns.removeEventListener('returned', again);
    close();
  };
}
