import { Option } from './option.js';
import { type Rule, rule, text } from './rules.js';

export const defaultLimit = 20;

/** The number of items per page. */
export const LimitOption = (limits = { most: 100, default: defaultLimit }) =>
  Option(
    limitRule(limits),
    `The number of entries on a page. A value above ${limits.most} counts as ${limits.most}.`,
  );

/** Where a list continues. */
export const CursorOption = () =>
  Option(text, 'The `next_cursor` of the previous page. It includes the filters and the limit of that page.');

const limitRule = ({ most, default: usual }: { most: number; default: number }): Rule<number> =>
  rule({ type: 'integer', minimum: 1, default: usual }, (value) => {
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : 0;
    if (number < 1) throw new Error(`expected a whole number from 1 to ${most}`);
    return Math.min(number, most);
  });
