import { SharedReads } from './shared-reads.js';

test('readers that accept a slightly old value share one read, and other readers read again', async () => {
  const shared = new SharedReads<number>(60_000);
  let reads = 0;
  const read = (): Promise<number> => Promise.resolve((reads += 1));
  expect(await shared.get('a', 60_000, read)).toBe(1);
  expect(await shared.get('a', 60_000, read)).toBe(1);
  expect(await shared.get('b', 60_000, read)).toBe(2);
  expect(await shared.get('a', 0, read)).toBe(3);
  expect(await shared.get('a', 60_000, read)).toBe(3);
});

test('a failed read is not shared', async () => {
  const shared = new SharedReads<number>(60_000);
  await expect(shared.get('a', 60_000, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await shared.get('a', 60_000, () => Promise.resolve(1))).toBe(1);
});
