import { Turns } from './turns.js';

const nobody = () => false;

function order(turns: Turns<string>, costs: Readonly<Record<string, number>>): string[] {
  const done: string[] = [];
  for (let next = turns.next(nobody); next !== undefined; next = turns.next(nobody)) {
    done.push(next.item);
    turns.charge(next.caller, costs[next.caller]!);
  }
  return done;
}

it('serves callers in turns, however much work one of them has waiting', () => {
  const turns = new Turns<string>();
  for (const item of ['a1', 'a2', 'a3', 'a4']) turns.add('a', item);
  for (const item of ['b1', 'b2']) turns.add('b', item);
  expect(order(turns, { a: 1, b: 1 })).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
});

it('gives a caller of small work more turns than one of large work', () => {
  const turns = new Turns<string>();
  for (const item of ['a1', 'a2']) turns.add('a', item);
  for (const item of ['b1', 'b2', 'b3']) turns.add('b', item);
  expect(order(turns, { a: 100, b: 1 })).toEqual(['a1', 'b1', 'b2', 'b3', 'a2']);
});

it('remembers the usage of an idle caller until the other callers have caught up', () => {
  const turns = new Turns<string>();
  turns.add('a', 'a1');
  turns.next(nobody);
  turns.charge('a', 100);
  turns.add('a', 'a2');
  turns.add('b', 'b1');
  expect(turns.next(nobody)!.item).toBe('b1');
  turns.charge('b', 200);
  turns.add('b', 'b2');
  expect(turns.next(nobody)!.item).toBe('a2');
});

it('lets no caller save up turns', () => {
  const turns = new Turns<string>();
  turns.add('a', 'a1');
  turns.add('a', 'a2');
  turns.next(nobody);
  turns.charge('a', 1_000);
  turns.next(nobody);
  turns.charge('a', 10);
  for (const item of ['b1', 'b2', 'b3']) turns.add('b', item);
  turns.add('a', 'a3');
  expect(order(turns, { a: 10, b: 20 })).toEqual(['b1', 'a3', 'b2', 'b3']);
});

it('skips a caller that may not have a turn now', () => {
  const turns = new Turns<string>();
  turns.add('a', 'a1');
  turns.add('b', 'b1');
  expect(turns.next((caller) => caller === 'a')?.item).toBe('b1');
  expect(turns.next((caller) => caller === 'a')).toBeUndefined();
  expect(turns.size).toBe(1);
});
