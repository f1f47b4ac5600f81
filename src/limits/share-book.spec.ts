import type { LimitSubject } from './budget.js';
import { ShareBook } from './share-book.js';

const subject = (name: string, hasKey: boolean): LimitSubject => ({
  subject: name,
  routeClass: 'other',
  limits: [{ name: 'second', limit: 10, windowMs: 1_000 }],
  hasKey,
});

/** Two rounds look at every caller. */
function forgotten(book: ShareBook, now: number): number {
  book.takeForgotten(10, now);
  return book.takeForgotten(10, now).size;
}

test('beyond its capacity new callers without a key are turned away; known ones and keys are not', () => {
  const book = new ShareBook(2);
  const known = book.budgetOf(subject('address:1', false));
  book.budgetOf(subject('address:2', false));
  expect(() => book.budgetOf(subject('address:3', false))).toThrow('too many callers at once');
  expect(book.budgetOf(subject('address:1', false))).toBe(known);
  expect(book.budgetOf(subject('key:1', true))).toBeDefined();
});

test('a caller is forgotten one longest window after its last call, and makes room', () => {
  const book = new ShareBook(1);
  book.budgetOf(subject('address:1', false)).admit(5_000);
  expect(forgotten(book, 6_000)).toBe(0);
  expect(forgotten(book, 6_001)).toBe(1);
  expect(book.budgetOf(subject('address:2', false))).toBeDefined();
});

test('a forgotten caller that comes back begins without a share, and its row is not removed', () => {
  const book = new ShareBook();
  const before = book.budgetOf(subject('address:1', false));
  before.windows[0]!.share = 10;
  expect(forgotten(book, 6_001)).toBe(1);
  const after = book.budgetOf(subject('address:1', false));
  expect([after === before, after.windows[0]!.share]).toEqual([false, 0]);
  book.putBackUnwritten([before]);
  expect(book.takeUnwritten(9_999)).toEqual([]);
  expect(book.takeWritable([before])).toEqual([]);
  after.admit(6_002);
  expect(forgotten(book, 6_003)).toBe(0);
});

test('a row of a caller that is not known here is removed, one of a known caller stays', () => {
  const book = new ShareBook();
  const { key } = book.budgetOf(subject('address:1', true));
  book.noteRows([key, { ...key, subject: 'address:2' }]);
  expect([...book.takeForgotten(10, 0).values()]).toEqual([{ ...key, subject: 'address:2' }]);
});
