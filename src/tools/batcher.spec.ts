import { DatabaseUnavailable } from '../errors/database-error.js';
import { Batcher } from './batcher.js';

/** A writer that shows what it received and answers when asked. */
class Writer {
  readonly batches: { items: number[]; succeed(): void; fail(error: Error): void }[] = [];

  readonly write = (items: number[]): Promise<number[]> =>
    new Promise((resolve, reject) =>
      this.batches.push({ items, succeed: () => resolve(items.map((item) => item * 10)), fail: reject }),
    );

  get sizes(): number[][] {
    return this.batches.map(({ items }) => items);
  }
}

const away = new DatabaseUnavailable('away', undefined);
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const bad = new Error('bad item');

let writer: Writer;
beforeEach(() => (writer = new Writer()));

/** Returns how each item ends after the writes have failed one after another, as given. */
async function ends(
  batcher: Batcher<number, number>,
  items: number[],
  ...errors: Error[]
): Promise<string[]> {
  const all = Promise.allSettled(items.map((item) => batcher.add(item)));
  for (const [i, error] of errors.entries()) {
    await settled();
    writer.batches[i]!.fail(error);
  }
  return (await all).map(({ status }) => status);
}

it('sends a single item in the same turn when nothing is being written', async () => {
  void new Batcher(writer.write, { maxItems: 10 }).add(1);
  await settled();
  expect(writer.sizes).toEqual([[1]]);
});

it('sends the items of one turn of the event loop together', async () => {
  const batcher = new Batcher(writer.write, { maxItems: 10 });
  void batcher.add(1);
  await Promise.resolve();
  void batcher.add(2);
  await settled();
  expect(writer.sizes).toEqual([[1, 2]]);
});

it('sends a part of a burst before the burst has ended', async () => {
  const batcher = new Batcher(writer.write, { maxItems: 10, writers: 2, earlyItems: 3 });
  for (const item of [1, 2, 3]) void batcher.add(item);
  expect(writer.sizes).toEqual([[1, 2, 3]]);
  void batcher.add(4);
  expect(writer.sizes).toEqual([[1, 2, 3]]);
  await settled();
  expect(writer.sizes).toEqual([[1, 2, 3], [4]]);
});

it('delays a few items until a write has ended, but not a larger number', async () => {
  const batcher = new Batcher(writer.write, { maxItems: 10, writers: 2, itemsBehind: 2 });
  for (const item of [1, 2]) {
    void batcher.add(item);
    await settled();
  }
  expect(writer.sizes).toEqual([[1]]);
  void batcher.add(3);
  await settled();
  expect(writer.sizes).toEqual([[1], [2, 3]]);
  void batcher.add(4);
  for (const { succeed } of writer.batches) succeed();
  await settled();
  expect(writer.sizes).toEqual([[1], [2, 3], [4]]);
});

it('collects the items that arrive during a write into the next write', async () => {
  const batcher = new Batcher(writer.write, { maxItems: 10 });
  const first = batcher.add(1);
  await settled();
  const others = [2, 3].map((item) => batcher.add(item));
  await settled();
  expect(writer.sizes).toEqual([[1]]);
  writer.batches[0]!.succeed();
  await settled();
  expect(writer.sizes).toEqual([[1], [2, 3]]);
  writer.batches[1]!.succeed();
  expect(await Promise.all([first, ...others])).toEqual([10, 20, 30]);
});

it.each([
  ['never sends more than its limit at once', { maxItems: 2 }, [1, 2, 3], [[1, 2], [3]]],
  [
    'bounds the weight of a batch, and lets what is heavier travel alone',
    { maxItems: 10, maxWeight: 5, weigh: (item: number) => item },
    [3, 2, 9, 1],
    [[3, 2], [9], [1]],
  ],
])('%s', async (_, options, items, sizes) => {
  const batcher = new Batcher(writer.write, options);
  for (const item of items) void batcher.add(item);
  for (let i = 0; i < sizes.length; i++) {
    await settled();
    writer.batches[i]!.succeed();
  }
  expect(writer.sizes).toEqual(sizes);
});

it('writes as many batches at once as it has writers', async () => {
  const batcher = new Batcher(writer.write, { maxItems: 1, writers: 2 });
  for (const item of [1, 2, 3]) void batcher.add(item);
  await settled();
  expect(writer.sizes).toEqual([[1], [2]]);
});

it('fails only the bad item when the failure is known to be its own', async () => {
  const write = (items: number[]): Promise<number[]> =>
    items.includes(2) ? Promise.reject(new Error('2 is bad')) : Promise.resolve(items);
  const batcher = new Batcher(write, { maxItems: 10 });
  expect(await ends(batcher, [0, 1, 2, 3])).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
});

it.each([
  ['fails a whole batch without trying again when the failure is of all', 10, [away], [[1, 2, 3]]],
  ['tries no more of a batch one by one once the failure is of all', 3, [bad, away], [[1, 2, 3], [1]]],
  [
    'lets what waits behind a lost database fail with it, unless the fault was an item',
    1,
    [bad, away],
    [[1], [2]],
  ],
])('%s', async (_, maxItems, errors, sizes) => {
  const batcher = new Batcher(writer.write, { maxItems });
  expect(await ends(batcher, [1, 2, 3], ...errors)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(writer.sizes).toEqual(sizes);
});

it('continues after a failure', async () => {
  const batcher = new Batcher(writer.write, { maxItems: 10 });
  expect(await ends(batcher, [1], new Error('once'))).toEqual(['rejected']);
  void batcher.add(2);
  await settled();
  expect(writer.sizes).toEqual([[1], [2]]);
});
