import { verdictOn } from './retry-plan.js';
import { SendingTerms } from './sending-terms.js';

const terms = new SendingTerms();
const nowMs = Date.parse('2026-03-01T12:00:00Z');
const [s, min, h] = [1_000, 60_000, 3_600_000];

test.each([200, 201, 204, 299])('%i is a success', (status) =>
  expect(verdictOn({ status }, 3, terms, nowMs)).toEqual({ state: 'delivered', step: 4, nextInMs: 0 }),
);

test('410 ends the delivery', () =>
  expect(verdictOn({ status: 410 }, 0, terms, nowMs)).toEqual({ state: 'ended', step: 1, nextInMs: 0 }));

const plan = [5 * s, min, 5 * min, 30 * min, 2 * h, 5 * h, 10 * h, 14 * h, 20 * h, 24 * h];

test.each(plan.map((delayMs, made): [number, number] => [made + 1, delayMs]))(
  'failed try %i is followed by a try after %i ms, plus at most a fifth',
  (step, delayMs) => {
    const verdict = verdictOn({ status: null }, step - 1, terms, nowMs);
    expect(verdict).toMatchObject({ state: 'pending', step });
    expect(verdict.nextInMs).toBeGreaterThanOrEqual(delayMs);
    expect(verdict.nextInMs).toBeLessThanOrEqual(delayMs * 1.2);
  },
);

test('the eleventh try that fails is the last', () =>
  expect(verdictOn({ status: 500 }, 10, terms, nowMs)).toMatchObject({ state: 'failed', step: 11 }));

test('a receiver can delay the next try with Retry-After, but at most by 24 h', () => {
  expect(verdictOn({ status: 503, retryAfter: '600' }, 0, terms, nowMs).nextInMs).toBe(600 * s);
  expect(verdictOn({ status: 503, retryAfter: '999999999' }, 0, terms, nowMs).nextInMs).toBe(24 * h);
  expect(verdictOn({ status: 503, retryAfter: '1' }, 2, terms, nowMs).nextInMs).toBeGreaterThanOrEqual(
    5 * min,
  );
});
