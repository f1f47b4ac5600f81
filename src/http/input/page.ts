import { Option } from './option.js';
import { text } from './values.js';

export const defaultLimit = 20;

/** The number of items per page. */
export const LimitOption = (limits = { most: 100, default: defaultLimit }): PropertyDecorator =>
  Option(
    'limit',
    (value) => limit(value, limits.most),
    `The number of entries on a page. A value above ${limits.most} counts as ${limits.most}.`,
    undefined,
    { type: 'integer', minimum: 1, default: limits.default },
  );

/** Where a list continues. */
export const CursorOption = (): PropertyDecorator =>
  Option(
    'cursor',
    text,
    'The `next_cursor` of the previous page. It includes the filters and the limit of that page.',
  );

function limit(value: unknown, most: number): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : 0;
  if (number < 1) throw new Error(`expected a whole number from 1 to ${most}`);
  return Math.min(number, most);
}
