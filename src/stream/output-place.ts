import type { ReadPlace } from '../queue/reads/output-source.js';
import type { StatusRow } from '../queue/reads/status-row.js';

/** The position of an output's reader, as encoded in the id of its last event. */
export type OutputPosition = ReadPlace | { attempt: number; at: 'whole' | 'done' };

/** Returns the id of the event after which a reader resumes at this position. */
export const idOf = (position: OutputPosition): string =>
  `${position.attempt}.${'at' in position ? position.at : position.index}`;

/** undefined: no stream has sent this id. */
export function positionOf(id: string): OutputPosition | undefined {
  const [, attempt, next] = /^(\d{1,9})\.(\d{1,9}|whole|done)$/.exec(id) ?? [];
  if (attempt === undefined || next === undefined) return undefined;
  if (next === 'whole' || next === 'done') return { attempt: Number(attempt), at: next };
  return { attempt: Number(attempt), index: Number(next) };
}

/**
 * Returns whether a stream of the request may have sent this position. The existence of the part itself is not checked.
 */
export function canBeOf({ state, attempt }: StatusRow, position: OutputPosition): boolean {
  if ('at' in position) return state === 'COMPLETED' && position.attempt === attempt;
  return position.attempt > 0 && position.attempt <= attempt;
}
