import type { Queries, Statement } from '../../database/statement.js';
import { listBatches } from './read-batches.js';

const ids = [3, 2, 1].map((n) => `01900000-0000-7000-8000-00000000000${n}`);

test('a page is full although a batch is deleted while the page is read', async () => {
  const left = new Set(ids);
  const query = ({ name }: Statement, values: unknown[] = []): Promise<object[]> => {
    if (name === 'list_batches') {
      const page = [...left].slice(0, values.at(-1) as number);
      return Promise.resolve(page.map((id) => ({ id })));
    }
    left.delete(ids[0]!);
    const asked = (values[0] as string[]).filter((id) => left.has(id));
    return Promise.resolve(asked.map((id) => ({ id, rank: 1, total: 0 })));
  };
  const page = await listBatches({ query } as unknown as Queries, 'key', { limit: 2 });
  expect(page.map(({ id }) => id)).toEqual([ids[1], ids[2]]);
});
