import { BoundedCache } from './bounded-cache.js';

test('a value is valid until its expiry, and no longer at it', () => {
  const cache = new BoundedCache<string>(10);
  cache.set('a', 'value', 100);
  expect(cache.get('a', 99.9)).toBe('value');
  expect(cache.get('a', 100)).toBeUndefined();
});

test('a full cache removes its oldest values', () => {
  const cache = new BoundedCache<number>(3);
  for (let i = 0; i < 1_000; i++) cache.set(`key ${i}`, i, Infinity);
  const retained = Array.from({ length: 1_000 }, (_, i) => cache.get(`key ${i}`, 0) ?? []).flat();
  expect(retained).toEqual([997, 998, 999]);
});

test('a value that is set again counts as new', () => {
  const cache = new BoundedCache<number>(2);
  cache.set('a', 1, Infinity);
  cache.set('b', 2, Infinity);
  cache.set('a', 3, Infinity);
  cache.set('c', 4, Infinity);
  expect([cache.get('a', 0), cache.get('b', 0), cache.get('c', 0)]).toEqual([3, undefined, 4]);
});

test('a full cache removes its oldest values even after other values, or all, were removed', () => {
  const cache = new BoundedCache<number>(3);
  const set = (...numbers: number[]): void => numbers.forEach((n) => cache.set(`key ${n}`, n, Infinity));
  const retained = (): number[] =>
    Array.from({ length: 20 }, (_, n) => cache.get(`key ${n}`, 0) ?? []).flat();
  set(0, 1, 2, 3);
  cache.delete('key 2');
  set(4, 5);
  expect(retained()).toEqual([3, 4, 5]);
  cache.forget(() => true);
  set(6, 7, 8, 9, 4, 10);
  expect(retained()).toEqual([4, 9, 10]);
});
