import { Option, optionsOf } from '../../http/input/option.js';
import { rule, text } from '../../http/input/rules.js';

const position = rule(text.schema, (value) => {
  const written = text.read(value);
  if (/^\d{1,15}$/.test(written)) return Number(written);
  throw new Error('expected one that this list returned; start the list again');
});

/** The position at which a page of a log goes on. */
export class LogQuery {
  @Option(position, 'The `next_cursor` of the previous page.')
  cursor: number | undefined;
}

/** Returns the id of the entry after which the page begins. `query`: as it is in the call. */
export const logPosition = (query: object): number => optionsOf(LogQuery, query).cursor ?? 0;
