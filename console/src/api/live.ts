import { useSyncExternalStore } from 'react';
import { serviceAddress } from './base';
import { sayReturned } from './event-source';
import { changed } from './overview-changes';
import { readSessionAgain } from './query-client';
import type { Overview, OverviewChanges } from './types';

/** How the figures of all views stand: one stream a tab, closed while nobody sees the page. */
export interface Live {
  overview: Overview | undefined;
  connection: 'connecting' | 'open' | 'lost';
}

/** The service says `alive` every 10 s: a connection that has said nothing for so long is none. */
const silentMs = 30_000;

const atFirst: Live = { overview: undefined, connection: 'connecting' };
let live = atFirst;
let source: EventSource | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let silence: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
const listeners = new Set<() => void>();

function publish(next: Partial<Live>): void {
  live = { ...live, ...next };
  for (const listener of listeners) listener();
}

function open(): void {
  clearTimeout(retry);
  if (source !== undefined || listeners.size === 0 || document.hidden) return;
  source = new EventSource(serviceAddress('v1/admin/events'));
  let overview: Overview | undefined;
  const show = (next: Overview): void => {
    failures = 0;
    overview = next;
    listen();
    const wasLost = live.connection === 'lost';
    publish({ overview, connection: 'open' });
    if (wasLost) sayReturned();
  };
  source.addEventListener('overview', ({ data }: MessageEvent<string>) => show(JSON.parse(data) as Overview));
  source.addEventListener('changes', ({ data }: MessageEvent<string>) => {
    if (overview !== undefined) show(changed(overview, JSON.parse(data) as OverviewChanges));
  });
  source.addEventListener('alive', listen);
  // By ourselves: a browser gives up for good at an answer such as 502.
  source.addEventListener('error', ({ target }) => {
    // Of an answer other than a stream it does not say which: perhaps the session is over.
    if ((target as EventSource).readyState === EventSource.CLOSED) readSessionAgain();
    broke(failures > 0 || live.overview !== undefined);
  });
  listen();
}

/** A network that has gone silent breaks nothing that a browser would tell. */
function listen(): void {
  clearTimeout(silence);
  silence = setTimeout(() => broke(true), silentMs);
}

function broke(isLost: boolean): void {
  close();
  failures += 1;
  if (isLost) publish({ connection: 'lost' });
  retry = setTimeout(open, Math.min(15_000, 500 * 2 ** failures));
}

function close(): void {
  clearTimeout(retry);
  clearTimeout(silence);
  source?.close();
  source = undefined;
}

document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
window.addEventListener('offline', () => {
  close();
  publish({ connection: 'lost' });
});
window.addEventListener('online', () => {
  close();
  open();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  open();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    close();
    // Who signs in next may be somebody else.
    live = atFirst;
  };
}

export const useLive = (): Live => useSyncExternalStore(subscribe, () => live);
