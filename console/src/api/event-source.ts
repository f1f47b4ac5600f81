import { serviceAddress } from './base';

/** Notifies all open sources that the service is back. */
const returns = new EventTarget();

/** Reports that the service answers again after a silence. */
export const sayReturned = (): boolean => returns.dispatchEvent(new Event('returned'));

/**
 * Keeps an event source open while the page is visible, and reopens it 2 s after it broke. Returns a function that ends
 * it.
 * Between events the service sends only comments, which a browser hides. Only the overview stream of the tab can detect
 * a silent connection. When the service answers again, that stream makes the others reconnect.
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
