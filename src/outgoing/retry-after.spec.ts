import { parseRetryAfter } from './retry-after.js';

const now = Date.parse('2026-11-21T12:00:00Z');

it.each([
  ['7', 7_000],
  [' 0 ', 0],
  ['9999999999', 9_999_999_999_000],
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
  ['Sat Nov 21 12:00:30 2026', 30_000],
  ['Sat Nov 21 12:00:30 2026 GMT', 30_000],
  ['Sat Nov  7 12:00:30 2026', 0],
  ['Sat, 21 Nov 2026 13:00:30 +0100', 30_000],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ['Sunday, 22-Nov-26 12:00:00 GMT', 86_400_000],
  ['soon', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['2026-11-21', undefined],
  ['Sat, never', undefined],
  ['', undefined],
  [undefined, undefined],
])('reads %j as %j ms', (field, ms) => {
  expect(parseRetryAfter(field, now)).toBe(ms);
});
