import { useSyncExternalStore } from 'react';
import { serviceAddress } from './base';
import { changed } from './overview-changes';
import type { Overview, OverviewChanges } from './types';

/** How the figures of all views stand: one stream a tab, closed while nobody sees the page. */
export interface Live {
  overview: Overview | undefined;
  connection: 'connecting' | 'open' | 'lost';
}

let live: Live = { overview: undefined, connection: 'connecting' };
let source: EventSource | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
const listeners = new Set<() => void>();

function publish(next: Partial<Live>): void {
  live = { ...live, ...next };
  for (const listener of listeners) listener();
}

function open(): void {
  if (source !== undefined || listeners.size === 0 || document.hidden) return;
  source = new EventSource(serviceAddress('v1/admin/events'));
  let overview: Overview | undefined;
  const show = (next: Overview): void => {
    failures = 0;
    overview = next;
    publish({ overview, connection: 'open' });
  };
  source.addEventListener('overview', ({ data }: MessageEvent<string>) => show(JSON.parse(data) as Overview));
  source.addEventListener('changes', ({ data }: MessageEvent<string>) => {
    if (overview !== undefined) show(changed(overview, JSON.parse(data) as OverviewChanges));
  });
  // By ourselves: a browser gives up for good at an answer such as 502.
  source.addEventListener('error', () => {
    close();
    failures += 1;
    if (failures > 1 || live.overview !== undefined) publish({ connection: 'lost' });
    retry = setTimeout(open, Math.min(15_000, 500 * 2 ** failures));
  });
}

function close(): void {
  clearTimeout(retry);
  source?.close();
  source = undefined;
}

document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
window.addEventListener('online', () => {
  close();
  open();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  open();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) close();
  };
}

export const useLive = (): Live => useSyncExternalStore(subscribe, () => live);
