import type { ReadPlace } from '../queue/output-source.js';
import type { StatusRow } from '../queue/status-row.js';

/** Where a reader of an output is, as the id of the last event that it got says. */
export type OutputPosition = ReadPlace | { attempt: number; at: 'whole' | 'done' };

/** Of the event after which a reader goes on from there. */
export const idOf = (position: OutputPosition): string =>
  `${position.attempt}.${'at' in position ? position.at : position.index}`;

/** undefined: no stream has sent it. */
export function positionOf(id: string): OutputPosition | undefined {
  const [, attempt, next] = /^(\d{1,9})\.(\d{1,9}|whole|done)$/.exec(id) ?? [];
  if (attempt === undefined || next === undefined) return undefined;
  if (next === 'whole' || next === 'done') return { attempt: Number(attempt), at: next };
  return { attempt: Number(attempt), index: Number(next) };
}

/** Whether a stream of the request may have sent it; parts that were said are not looked up. */
export function canBeOf({ state, attempt }: StatusRow, position: OutputPosition): boolean {
  if ('at' in position) return state === 'COMPLETED' && position.attempt === attempt;
  return position.attempt > 0 && position.attempt <= attempt;
}
