import { v7 } from 'uuid';
import {
  dayOf,
  firstIdAt,
  firstIdOf,
  forStatements,
  spansOfDays,
  statementOfDays,
  statementOfSpan,
} from './days.js';

const dayMs = 86_400_000;
const idAt = (msecs: number): string => v7({ msecs });
const midnight = Date.UTC(2026, 10, 27);

const byId = statementOfDays('by_id', (within) => `SELECT FROM request WHERE id = $1 AND ${within('id')}`);

it('covers the whole day of an id in its text, and no other day', () => {
  const { text } = byId(idAt(midnight + 1));
  expect(text).toBe(byId(idAt(midnight + dayMs - 1)).text);
  const [first, last] = [
    firstIdAt(midnight),
    `${firstIdAt(midnight + dayMs - 1).slice(0, 13)}-ffff-ffff-ffffffffffff`,
  ];
  expect(text).toBe(
    `SELECT FROM request WHERE id = $1 AND (id > '${first}' OR id = '${first}') AND (id < '${last}' OR id = '${last}')`,
  );
  expect(byId(idAt(midnight + dayMs)).text).not.toBe(text);
});

it('covers the days from the first to the last of several ids', () => {
  const days = [2, 0, 1].map((day) => idAt(midnight + day * dayMs));
  expect(byId(...days).text).toContain(firstIdAt(midnight));
  expect(byId(...days).text).toContain(firstIdAt(midnight + 3 * dayMs - 1).slice(0, 13));
});

it('is prepared under separate names for today and yesterday, and is not prepared for older days or days to come', () => {
  const now = Date.now();
  const [today, yesterday, old, coming] = [0, -1, -2, 10].map((days) => byId(idAt(now + days * dayMs)));
  expect(today!.preparedAs).toMatch(/^by_id_/);
  expect(yesterday!.preparedAs).toMatch(/^by_id_/);
  expect(yesterday!.preparedAs).not.toBe(today!.preparedAs);
  expect([old!.preparedAs, coming!.preparedAs]).toEqual(['', '']);
  expect(byId(idAt(now), idAt(now + 10 * dayMs)).preparedAs).toBe('');
  expect([today, yesterday, old, coming].map((one) => one!.name)).toEqual(Array(4).fill('by_id'));
});

it('covers a day even for the last possible id', () => {
  expect(byId('ffffffff-ffff-7fff-bfff-ffffffffffff').text).toContain('ffffffff-ffff-ffff-ffff-ffffffffffff');
});

it('groups ids by their days if these are recent, and by spans of days otherwise', () => {
  const [today, too, yesterday] = [0, 0, 1].map((days) => idAt(Date.now() - days * dayMs)) as [
    string,
    string,
    string,
  ];
  const [old, near] = [500 * 32, 501 * 32 - 1].map((day) => idAt(day * dayMs)) as [string, string];
  expect(forStatements([today, old, yesterday, near, too])).toEqual([[today, too], [old, near], [yesterday]]);
});

describe('spans', () => {
  const ends = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const;
  const today = dayOf(firstIdAt(Date.now()));

  it('begin with all future days and at least the last 32, and leave no gap', () => {
    const [newest, ...older] = [...spansOfDays(firstIdOf(today - 300), ends[1])];
    expect(newest!.lastDay).toBe(undefined);
    expect(today - newest!.firstDay).toBeGreaterThanOrEqual(32);
    expect(today - newest!.firstDay).toBeLessThan(64);
    let next = newest!.firstDay;
    for (const { firstDay, lastDay } of older) {
      expect(lastDay).toBe(next - 1);
      expect(lastDay! - firstDay).toBe(31);
      next = firstDay;
    }
    expect(next).toBeLessThanOrEqual(today - 300);
  });

  it('do not repeat a span that was read completely', () => {
    const [first, second] = [...spansOfDays(ends[0], ends[1])];
    expect([...spansOfDays(ends[0], firstIdOf(first!.firstDay))][0]).toEqual(second);
  });

  it('use a prepared statement only for the newest span', () => {
    const ofSpan = statementOfSpan('of_span', (within) => `SELECT FROM request WHERE ${within('id')}`);
    const [newest, older] = [...spansOfDays(ends[0], ends[1])];
    expect(ofSpan(newest!).preparedAs).toMatch(/^of_span_/);
    expect(ofSpan(older!).preparedAs).toBe('');
    expect(ofSpan(newest!)).toBe(ofSpan(newest!));
  });
});
