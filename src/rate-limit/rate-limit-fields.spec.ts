import { Admission, Standing } from './admission.js';

const second = { name: 'second', limit: 10, windowMs: 1_000 };
const minute = { name: 'minute', limit: 100, windowMs: 60_000 };

function standing(
  second_: [remaining: number, resetMs: number],
  minute_: [number, number],
  later = 0,
): Admission {
  const windows = [
    { window: second, remaining: second_[0], resetMs: second_[1] },
    { window: minute, remaining: minute_[0], resetMs: minute_[1] },
  ];
  return new Admission(second_[0] > 0 && minute_[0] > 0, new Standing(windows), later);
}

/** By name. */
function fieldsOf({ fields }: Admission): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap((name, i) => (i % 2 === 0 ? [[name, fields[i + 1]!] as [string, string]] : [])),
  );
}

test('both windows are described, in whole seconds rounded up', () => {
  expect(fieldsOf(standing([9, 1_000], [42, 17_001]))).toEqual({
    'X-RateLimit-Limit': '10',
    'X-RateLimit-Remaining': '9',
    'X-RateLimit-Reset': '1',
    'RateLimit-Policy': '"second";q=10;w=1, "minute";q=100;w=60',
    RateLimit: '"second";r=9;t=1, "minute";r=42;t=18',
  });
});

test('of calls that were counted together each sees what remains after itself', () => {
  expect(fieldsOf(standing([2, 1_000], [42, 17_001], 5))).toMatchObject({
    'X-RateLimit-Remaining': '7',
    RateLimit: '"second";r=7;t=1, "minute";r=47;t=18',
  });
});

test('the tighter window is the one with fewer calls left', () => {
  const fields = fieldsOf(standing([7, 900], [3, 20_000]));
  expect(fields).toMatchObject({
    'X-RateLimit-Limit': '100',
    'X-RateLimit-Remaining': '3',
    'X-RateLimit-Reset': '20',
  });
});

test('of two exhausted windows the one that takes longer counts', () => {
  const refusal = standing([0, 300], [0, 41_500]);
  expect(fieldsOf(refusal)['X-RateLimit-Limit']).toBe('100');
  expect(refusal.retryAfterSeconds).toBe(42);
});

test('a window with room does not delay a retry, and a retry takes a second at least', () => {
  expect(standing([0, 300], [5, 59_000]).retryAfterSeconds).toBe(1);
  expect(standing([0, 0], [5, 59_000]).retryAfterSeconds).toBe(1);
});
