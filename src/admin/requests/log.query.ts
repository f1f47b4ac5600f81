import { Option, optionsOf } from '../../http/input/option.js';
import { text } from '../../http/input/values.js';

/** The position at which a page of a log goes on. */
export class LogQuery {
  @Option('cursor', position, 'The `next_cursor` of the previous page.')
  cursor: number | undefined;
}

/** Returns the id of the entry after which the page begins. `query`: as it is in the call. */
export const logPosition = (query: object): number => optionsOf(LogQuery, query, ['cursor']).cursor ?? 0;

function position(value: unknown): number {
  const written = text(value);
  if (/^\d{1,15}$/.test(written)) return Number(written);
  throw new Error('it is not one that this list returned; start the list again');
}
