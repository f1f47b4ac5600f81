import { Clock } from '../database/clock.js';
import type { Database } from '../database/database.js';
import { RateLimitStorage } from './rate-limit-storage.js';

const second = { name: 'second', windowMs: 1_000 };
const claimant = { subject: 'busy', routeClass: 'submit', limits: [{ ...second, limit: 1_000 }] };

/** A database whose answers are still to come. */
const silent = { query: () => new Promise(() => undefined) } as unknown as Database;

const realNow = performance.now;

afterEach(() => {
  performance.now = realNow;
});

it('counts a call apart while a statement is under way', () => {
  const storage = new RateLimitStorage(silent, new Clock());
  expect(storage.countsApart(claimant)).toBe(false);
  void storage.count({ ...claimant, subject: 'another' });
  expect(storage.countsApart(claimant)).toBe(true);
});

it('counts the calls of a busy caller apart, so that some are taken ahead', () => {
  const storage = new RateLimitStorage(silent, new Clock());
  const rare = { ...claimant, subject: 'rare', limits: [{ ...second, limit: 10 }] };
  for (const ms of [1_000, 1_001, 1_030]) {
    performance.now = () => ms;
    storage.known(claimant);
    storage.known(rare);
    expect(storage.countsApart(claimant)).toBe(ms === 1_030);
    expect(storage.countsApart(rare)).toBe(false);
  }
});
