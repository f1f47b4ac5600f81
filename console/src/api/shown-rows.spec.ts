import type { AdminRequest } from './types';
import { withRows } from './shown-rows';

const row = (id: string, status: AdminRequest['status']): AdminRequest =>
  ({ request_id: id, status }) as AdminRequest;
const list = {
  pageParams: [undefined, 'next'],
  pages: [
    { data: [row('c', 'IN_QUEUE'), row('b', 'IN_QUEUE')], count: { value: 3, is_exact: true } },
    { data: [row('a', 'IN_QUEUE')] },
  ],
};

test('rows that changed change where they are, and new ones stay away', () => {
  const fresh = [row('d', 'IN_QUEUE'), row('a', 'COMPLETED'), row('c', 'IN_PROGRESS')];
  const { pages } = withRows(list, fresh, { value: 1, is_exact: true });
  expect(pages.map(({ data }) => data.map(({ request_id, status }) => `${request_id} ${status}`))).toEqual([
    ['c IN_PROGRESS', 'b IN_QUEUE'],
    ['a COMPLETED'],
  ]);
  expect(pages.map(({ count }) => count?.value)).toEqual([1, undefined]);
});
