import { rateLimitFields } from './rate-limit-fields.js';

const second = { name: 'second', limit: 10, windowMs: 1_000 };
const minute = { name: 'minute', limit: 100, windowMs: 60_000 };

test('the X-RateLimit fields describe the window with fewer remaining calls; the other fields list all windows', () => {
  expect(
    rateLimitFields([
      { window: second, remaining: 9, resetMs: 1 },
      { window: minute, remaining: 3, resetMs: 30_001 },
    ]),
  ).toEqual([
    'X-RateLimit-Limit',
    '100',
    'X-RateLimit-Remaining',
    '3',
    'X-RateLimit-Reset',
    '31',
    'RateLimit-Policy',
    '"second";q=10;w=1, "minute";q=100;w=60',
    'RateLimit',
    '"second";r=9;t=1, "minute";r=3;t=31',
  ]);
});

test('the X-RateLimit fields describe the window with the later reset if both have as many remaining calls', () => {
  const fields = rateLimitFields([
    { window: second, remaining: 0, resetMs: 900 },
    { window: minute, remaining: 0, resetMs: 5_000 },
  ]);
  expect(fields.slice(0, 6)).toEqual([
    'X-RateLimit-Limit',
    '100',
    'X-RateLimit-Remaining',
    '0',
    'X-RateLimit-Reset',
    '5',
  ]);
});
