import type { AdminNode, Overview } from '../api/types';

/**
 * A node whose heartbeat is overdue has already given up its runs, so it is shown as lost. The other nodes take the
 * runs a second later.
 */
export const nodeWord = (state: AdminNode['state']): string => (state === 'fenced' ? 'lost' : state);

/** Returns whether the node starts requests. */
export const isRunning = ({ role, state }: Overview['nodes'][number]): boolean =>
  role !== 'api' && state === 'ready';
