import { OutputSource } from './output-source.js';
import type { OutputPlace, OutputRow } from './queries/read-output.js';
import type { StatusRow } from './status-row.js';

let table: OutputRow[];
let reads: number;
/** The number of rows that the last read asked for. */
let limited: number;
let source: OutputSource;

const row = (state: string, attempt = 1): StatusRow =>
  ({ id: 'r', state, attempt, startedAtMs: 0 }) as StatusRow;
const read = async ({ index, attempt }: OutputPlace, limit: number): Promise<OutputRow[]> => {
  reads++;
  limited = limit;
  return attempt === 1 ? table.filter((one) => one.index >= index).slice(0, limit) : [];
};
const rows = (first: number, count: number): OutputRow[] =>
  Array.from({ length: count }, (_, i) => ({ index: first + i, delta: String(first + i) }));
const after = async (index: number, attempt = 1): Promise<string> => {
  const found = await source.after({ attempt, index });
  return found === 'gone' ? found : found.map(({ delta }) => delta).join();
};

beforeEach(() => {
  table = [];
  reads = 0;
  source = new OutputSource(row('IN_PROGRESS'), read);
});

it('reads the table once, and then uses the output that this node writes', async () => {
  table = rows(0, 2);
  expect(await after(0)).toBe('0,1');
  expect(await after(2)).toBe('');
  source.add({ attempt: 1, first: 2, deltas: ['2', '3'] });
  expect(await after(2)).toBe('2,3');
  expect(await after(4)).toBe('');
  expect(reads).toBe(1);
});

it('reads the table again after a hint, once for all readers at the same place', async () => {
  expect(await after(0)).toBe('');
  table = rows(0, 3);
  source.hint();
  expect(await Promise.all([after(0), after(0), after(0)])).toEqual(['0,1,2', '0,1,2', '0,1,2']);
  expect(reads).toBe(2);
});

it('returns a late row only once, and no row before the rows that are missing', async () => {
  table = rows(0, 4);
  expect(await after(0)).toBe('0,1,2,3');
  source.add({ attempt: 1, first: 1, deltas: ['1', '2'] });
  source.add({ attempt: 1, first: 3, deltas: ['3', '4'] });
  expect(await after(4)).toBe('4');
  table = rows(0, 8);
  source.add({ attempt: 1, first: 7, deltas: ['7'] });
  expect(await after(5)).toBe('5,6,7');
});

it('reads the table for a reader that is far behind, some rows at a time', async () => {
  table = rows(0, 100);
  source.add({ attempt: 1, first: 90, deltas: rows(90, 10).map(({ delta }) => delta) });
  const first = (await after(0)).split(',').length;
  expect(first).toBeGreaterThan(10);
  expect(first).toBeLessThan(50);
  expect(await after(95)).toBe('95,96,97,98,99');
});

it('reads few rows at a time while they are long, and returns 64 Ki characters at most, or one row', async () => {
  const long = (index: number, length: number): OutputRow => ({ index, delta: 'x'.repeat(length) });
  table = [...Array.from({ length: 8 }, (_, i) => long(i, 30_000)), long(8, 70_000), ...rows(9, 40)];
  source.add({ attempt: 1, first: 60, deltas: ['60'] });
  const read: [rows: number, limit: number][] = [];
  for (let index = 0; index < 40;) {
    const found = await source.after({ attempt: 1, index });
    if (found === 'gone') throw new Error('the rows are there');
    expect(found.map((row) => row.index)).toEqual(found.map((_, i) => index + i));
    read.push([found.length, limited]);
    index += found.length;
  }
  // Each read also has the row before.
  expect(read).toEqual([
    [2, 33],
    [2, 3],
    [2, 5],
    [2, 3],
    [1, 5],
    [1, 2],
    [2, 3],
    [4, 5],
    [8, 9],
    [16, 17],
  ]);
});

it('drops older rows from memory, and reads them from the table', async () => {
  for (let index = 0; index < 1_000; index++)
    source.add({ attempt: 1, first: index, deltas: [JSON.stringify('x'.repeat(1_000))] });
  table = rows(0, 1_000);
  expect(await after(900)).toMatch(/^900,/);
  expect(reads).toBe(1);
});

it('reads the table at the end, and reports deleted rows before or after a place', async () => {
  table = rows(0, 2);
  expect(await after(0)).toBe('0,1');
  table = rows(0, 3);
  source.update(row('COMPLETED'));
  expect(await after(2)).toBe('2');
  source.update(row('COMPLETED'));
  table = [];
  expect(await after(3)).toBe('gone');
  table = rows(2, 1);
  source = new OutputSource(row('COMPLETED'), read);
  expect(await after(0)).toBe('gone');
});

it('ignores a status that is older than the known one', () => {
  source = new OutputSource({ ...row('IN_PROGRESS', 2), lastEventId: 21 }, read);
  source.update({ ...row('IN_PROGRESS', 1), lastEventId: 11 });
  expect(source.row.attempt).toBe(2);
  source.update({ ...row('IN_QUEUE', 2), lastEventId: 30 });
  expect(source.row.state).toBe('IN_QUEUE');
});

it('begins again with the next attempt', async () => {
  table = rows(0, 2);
  expect(await after(0)).toBe('0,1');
  source.add({ attempt: 2, first: 0, deltas: ['"b"'] });
  source.add({ attempt: 1, first: 2, deltas: ['2'] });
  source.update(row('IN_PROGRESS', 2));
  expect(await after(0, 2)).toBe('"b"');
});

it('wakes waiting readers, and releases a reader that leaves', async () => {
  const readers = [{}, {}];
  const woken: number[] = [];
  const waits = readers.map((reader, i) => source.changed(source.version, reader).then(() => woken.push(i)));
  source.release(readers[1]!);
  await waits[1];
  expect(woken).toEqual([1]);
  source.add({ attempt: 1, first: 0, deltas: ['0'] });
  await Promise.all(waits);
  expect(woken).toEqual([1, 0]);
  await source.changed(-1, readers[0]!);
});
