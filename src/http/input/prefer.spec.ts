import { waitSeconds } from './prefer.js';

it.each([
  ['wait=10', 10],
  ['WAIT=10', 10],
  ['Wait = 10', 10],
  [' wait=007 ', 7],
  ['wait="10"', 10],
  ['wait=10; foo', 10],
  ['wait=10;foo="a, wait=3";bar', 10],
  ['respond-async, wait=10', 10],
  ['respond-async;wait=3, wait=10', 10],
  ['handling=lenient,,wait=10,', 10],
  ['foo="a, wait=3", wait=10', 10],
  ['foo="a \\" , wait=3", wait=10', 10],
  ['waiting=3, wait-a=4, wait=10', 10],
  ['wait=10, wait=20', 10],
  ['wait=60', 60],
  ['wait=61', 60],
  ['wait', 60],
  ['respond-async, Wait ;foo=1', 60],
  [`wait=${'9'.repeat(500)}`, 60],
])('%s means a wait of %s s', (field, seconds) => expect(waitSeconds(field)).toBe(seconds));

it.each([
  '',
  'wait=',
  'wait=""',
  'wait=0',
  'wait=-5',
  'wait=+5',
  'wait=5.5',
  'wait=5s',
  'wait=5 6',
  'wait=1e1',
  'wait="5',
  "wait='5'",
  'wait=abc, wait=5',
  'wait=0, wait=5',
  'foo; wait=5',
  'foo="wait=5, wait=5',
  'return=minimal',
  'x wait=5',
  '=5',
  ',;"',
])('%s means no wait', (field) => expect(waitSeconds(field)).toBe(0));

it('reads 16 KiB of repeated syntax as a wait of at most 60 s', () => {
  for (const part of ['"', '\\"', ',', ' ', 'wait ', 'wait=1', '="', ';'])
    expect(waitSeconds(part.repeat(16_384 / part.length))).toBeLessThanOrEqual(60);
});
