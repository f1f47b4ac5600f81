import type { AdminNode, Overview } from '../api/types';

/** One whose heartbeat is overdue has given its runs up; that others take them only a second later is no news. */
export const nodeWord = (state: AdminNode['state']): string => (state === 'fenced' ? 'lost' : state);

/** Whether it starts requests. */
export const isRunning = ({ role, state }: Overview['nodes'][number]): boolean =>
  role !== 'api' && state === 'ready';
