import { Recent } from './recent.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('reads once for all callers within its maximum age, and again afterwards', async () => {
  let reads = 0;
  const recent = new Recent(1_000, () => Promise.resolve(++reads));
  expect(await Promise.all([recent.get(), recent.get()])).toEqual([1, 1]);
  jest.advanceTimersByTime(999);
  expect(await recent.get()).toBe(1);
  jest.advanceTimersByTime(1);
  expect(await recent.get()).toBe(2);
});

it('does not cache a failure', async () => {
  const results = [Promise.reject(new Error('away')), Promise.resolve('back')];
  const recent = new Recent(1_000, () => results.shift()!);
  await expect(recent.get()).rejects.toThrow('away');
  expect(await recent.get()).toBe('back');
});
