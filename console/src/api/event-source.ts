import { serviceAddress } from './base';

/** Keeps an event source open while somebody looks, and opens it again 2 s after it broke. What it returns ends it. */
export function keepOpen(
  pathNow: () => string,
  listen: (source: EventSource, close: () => void) => void,
): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    if (source !== undefined || document.hidden) return;
    source = new EventSource(serviceAddress(pathNow()));
    listen(source, close);
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
  open();
  document.addEventListener('visibilitychange', look);
  return () => {
    document.removeEventListener('visibilitychange', look);
    close();
  };
}
