import { useSyncExternalStore } from 'react';
import { serviceAddress } from './base';
import { sayReturned } from './event-source';
import { changed } from './overview-changes';
import { readAllAgain, readSessionAgain } from './query-client';
import type { Overview, OverviewAlive, OverviewChanges } from './types';

/**
 * Why the figures are not current. `service`: it does not answer this page. `database`: the service answers but cannot
 * reach its database. `figures`: it answers, but its stream of figures is refused or brings no new ones.
 */
export interface Trouble {
  what: 'service' | 'database' | 'figures';
  since: string;
}

/**
 * The figures of all views and how current they are. They come from one stream per tab, closed while the page is
 * hidden.
 */
export interface Live {
  overview: Overview | undefined;
  connection: 'connecting' | 'open' | 'lost';
  /** undefined: the figures are current. */
  trouble: Trouble | undefined;
  /** What a full or failing disk prevents, and what to do. undefined: nothing is wrong. */
  diskFault: string | undefined;
  /** When the service last read the figures. undefined: as far as this page knows, it never has. */
  readAt: string | undefined;
}

/** The service sends `alive` every 3 s. A connection that is silent for this long is dead. */
const silentMs = 10_000;
/** The service reads the figures every 2 s. */
const staleMs = 7_000;

const atFirst: Live = {
  overview: undefined,
  connection: 'connecting',
  trouble: undefined,
  diskFault: undefined,
  readAt: undefined,
};
let live = atFirst;
let source: EventSource | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let silence: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
/** True if the stream broke since it was open. */
let isBroken = false;
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
    isOpen();
    publish({ overview });
  };
  source.addEventListener('overview', ({ data }: MessageEvent<string>) => show(JSON.parse(data) as Overview));
  source.addEventListener('changes', ({ data }: MessageEvent<string>) => {
    if (overview !== undefined) show(changed(overview, JSON.parse(data) as OverviewChanges));
  });
  source.addEventListener('alive', ({ data }: MessageEvent<string>) => {
    listen();
    isOpen();
    heard(JSON.parse(data) as OverviewAlive);
  });
  // The page reconnects itself, because a browser stops reconnecting after an answer such as 502.
  source.addEventListener('error', ({ target }) => {
    // The browser hides the status of the answer. The session may be over.
    if ((target as EventSource).readyState === EventSource.CLOSED) readSessionAgain();
    // A node that restarts ends its streams. The next one is open within a second or two, on this node or another.
    broke(failures > 0);
  });
  listen();
}

/** A browser reports no error when a network goes silent. */
function listen(): void {
  clearTimeout(silence);
  silence = setTimeout(() => broke(true), silentMs);
}

function isOpen(): void {
  publish({ connection: 'open' });
  if (!isBroken) return;
  isBroken = false;
  sayReturned();
}

/** Publishes what the service reports about its figures. */
function heard({
  at,
  database,
  database_away_since,
  disk_fault,
  read_at,
}: Partial<OverviewAlive> & { at: string }): void {
  const readAt = read_at ?? live.readAt;
  const isStale = readAt !== undefined && Date.parse(at) - Date.parse(readAt) > staleMs;
  if (database === 'away') troubled('database', database_away_since ?? at);
  else if (isStale) troubled('figures', readAt);
  else if (live.trouble !== undefined) {
    publish({ trouble: undefined });
    // Other views hold data, or errors, from before.
    readAllAgain();
  }
  publish({ readAt, diskFault: disk_fault ?? undefined });
}

function troubled(what: Trouble['what'], since: string): void {
  const { trouble } = live;
  if (trouble?.what !== what || trouble.since !== since) publish({ trouble: { what, since } });
}

/** Runs when there is no stream. The health endpoint tells why, without a key. */
async function diagnose(): Promise<void> {
  const { trouble } = live;
  const what = await findTrouble();
  if (live.connection !== 'lost') return;
  const isKnown = trouble !== undefined && (trouble.what === 'figures') === (what === 'figures');
  troubled(what, isKnown ? trouble.since : new Date().toISOString());
}

async function findTrouble(): Promise<Trouble['what']> {
  try {
    const answer = await fetch(serviceAddress('health/ready'), {
      cache: 'no-store',
      signal: AbortSignal.timeout(4_000),
    });
    const { checks } = (await answer.json()) as { checks?: { database?: { status?: string } } };
    if (checks?.database === undefined) return 'service';
    return checks.database.status === 'down' ? 'database' : 'figures';
  } catch {
    return 'service';
  }
}

function broke(isLost: boolean): void {
  close();
  isBroken = true;
  failures += 1;
  if (isLost) lost();
  retry = setTimeout(open, Math.min(15_000, 500 * 2 ** failures));
}

function lost(): void {
  publish({ connection: 'lost' });
  void diagnose();
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
  lost();
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
    // The next user to sign in may be another one.
    live = atFirst;
  };
}

export const useLive = (): Live => useSyncExternalStore(subscribe, () => live);

/** Returns the trouble that prevents answers to calls. undefined: there is none. */
export function useOutage(): Trouble | undefined {
  const { trouble } = useLive();
  return trouble?.what === 'figures' ? undefined : trouble;
}
