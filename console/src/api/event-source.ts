import { useEffect } from 'react';
import { serviceAddress } from './base';

/**
 * An event source about something, as long as it is wanted and somebody looks; opened again 2 s after it broke. `pathNow`
 * and `listen` are those of the first time.
 */
export function useEventSource(
  about: string,
  isWanted: boolean,
  pathNow: () => string,
  listen: (source: EventSource, close: () => void) => void,
): void {
  useEffect(() => {
    if (!isWanted) return;
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
  }, [about, isWanted]);
}
