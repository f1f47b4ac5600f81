import { OtherHolders, ShareBook } from './share-book.js';
import type { LimitSubject } from './budget.js';

const subject = (name: string, hasKey: boolean): LimitSubject => ({
  subject: name,
  routeClass: 'other',
  limits: [{ name: 'second', limit: 10, windowMs: 1_000 }],
  hasKey,
});

/** Two rounds look at every caller. */
function forgotten(book: ShareBook, now: number): number {
  const idle = [...book.takeIdle(now), ...book.takeIdle(now)];
  book.forget(idle);
  book.release(idle);
  return idle.length;
}

test('beyond capacity, new addresses of a network share a budget; known addresses and keys do not', () => {
  let crowded = 0;
  const book = new ShareBook(2, () => crowded++);
  const known = book.budgetOf(subject('address:192.0.2.1', false));
  book.budgetOf(subject('address:192.0.2.2', false));
  const shared = book.budgetOf(subject('address:192.0.2.3', false));
  expect(book.budgetOf(subject('address:192.0.200.4', false))).toBe(shared);
  expect(book.budgetOf(subject('address:198.51.100.1', false))).not.toBe(shared);
  expect(book.budgetOf(subject('address:2001:db8:1:2::/64', false))).toBe(
    book.budgetOf(subject('address:2001:db8:7::/64', false)),
  );
  expect(book.budgetOf(subject('address:192.0.2.1', false))).toBe(known);
  expect(book.budgetOf(subject('key:1', true)).key.subject).toBe('key:1');
  expect(crowded).toBe(5);
});

test('the number of budgets is bounded for any number of addresses, and each address gets one', () => {
  const book = new ShareBook(1_000);
  const budgets = new Set<unknown>();
  for (let n = 0; n < 200_000; n++) {
    budgets.add(book.budgetOf(subject(`address:${n & 255}.${(n >> 8) & 255}.${n >> 16}.7`, false)));
  }
  expect(budgets.size).toBeLessThanOrEqual(1_000 + 16_384);
});

test('a caller is forgotten when its longest window after its last call has passed, and frees its place', () => {
  const book = new ShareBook(1);
  book.budgetOf(subject('address:1', false)).admit(5_000);
  expect(forgotten(book, 6_000)).toBe(0);
  expect(forgotten(book, 6_001)).toBe(1);
  expect(book.budgetOf(subject('address:2', false)).key.subject).toBe('address:2');
});

test('a forgotten caller that returns begins without a share, and its old row is not written', () => {
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

test('a caller that returns during the removal of its row has no share, asks afterwards, and is not forgotten', () => {
  const book = new ShareBook();
  const budget = book.budgetOf(subject('address:1', false));
  budget.windows[0]!.share = 10;
  const idle = book.takeIdle(6_001);
  expect(idle).toEqual([budget]);
  expect(book.admit(budget, 6_002)).toBeUndefined();
  book.addWaiting(budget, { since: 6_002, count: 1, settle: () => undefined, reject: () => undefined }, true);
  expect(book.takeWanting(1, 6_002)).toEqual([]);
  book.forget(idle);
  book.release(idle);
  expect(book.takeWanting(1, 6_003)).toEqual([budget]);
  expect(budget.toRequest(1, 6_003)).toMatchObject({ held: [0], needed: [1] });
  expect(book.budgetOf(subject('address:1', false))).toBe(budget);
});

test('a call is rejected after 10 s if the usage of other holders stays unknown', () => {
  const book = new ShareBook();
  book.waitUntil = Infinity;
  const budget = book.budgetOf(subject('address:1', false));
  const ended: string[] = [];
  for (const since of [0, 4_000]) {
    const settle = (): void => void ended.push(`${since} admitted or refused`);
    const reject = (): void => void ended.push(`${since} rejected`);
    book.addWaiting(budget, { since, count: 1, settle, reject }, true);
  }
  book.serveAllWaiting(9_999);
  expect(ended).toEqual([]);
  book.serveAllWaiting(10_000);
  expect(ended).toEqual(['0 rejected']);
  budget.windows[0]!.share = 10;
  book.serveAllWaiting(10_001);
  expect(ended).toEqual(['0 rejected', '4000 admitted or refused']);
  expect(book.awaited.size).toBe(0);
});

test('a row of a caller that is not known here is removed, one of a known caller stays', () => {
  const book = new ShareBook();
  const known = book.budgetOf(subject('address:1', true));
  known.admit(0);
  const unknown = { ...known.key, subject: 'address:2' };
  book.noteRows([known.key, unknown]);
  expect(book.takeIdle(0).map(({ key }) => key)).toEqual([unknown]);
});

test('a row is written again when another node asks for a share that this node does not hold', () => {
  const book = new ShareBook();
  const budget = book.budgetOf(subject('address:1', true));
  expect(book.giveBack([budget.key], 0).budgets).toEqual([]);
  expect(book.takeUnwritten(0)).toEqual([budget]);
});

const otherHolder = { id: 'b', beat: 1 };

test('a holder whose beat does not change for 3 s is silent', () => {
  const others = new OtherHolders();
  for (const now of [0, 1_000, 2_000]) others.see([otherHolder], now);
  expect(others.silent(2_999)).toEqual([]);
  expect(others.silent(3_000)).toEqual([otherHolder]);
  others.see([{ id: 'b', beat: 2 }], 3_000);
  expect(others.silent(5_999)).toEqual([]);
});

test('observations from before a gap of 2 s do not make a holder silent', () => {
  const others = new OtherHolders();
  others.see([otherHolder], 0);
  others.see([otherHolder], 2_001);
  expect(others.silent(3_500)).toEqual([]);
});

test('a holder without a row no longer counts as a node, and is forgotten after the longest window', () => {
  const others = new OtherHolders();
  others.see([otherHolder], 0);
  expect(others.nodes).toBe(2);
  others.see([], 1_000);
  expect([others.nodes, others.gone(1_500)]).toEqual([1, [{ id: 'b', forMs: 500 }]]);
  others.noteGone(['b', 'c'], 1_600);
  expect(others.gone(1_600)).toEqual([
    { id: 'b', forMs: 600 },
    { id: 'c', forMs: 0 },
  ]);
  expect(others.finished(3_660_000)).toEqual([]);
  expect(others.finished(3_661_001)).toEqual(['b']);
});
