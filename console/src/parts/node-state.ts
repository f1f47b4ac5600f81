import type { AdminNode } from '../api/types';

/** One whose heartbeat is overdue has given its runs up; that others take them only a second later is no news. */
export const nodeWord = (state: AdminNode['state']): string => (state === 'fenced' ? 'lost' : state);
