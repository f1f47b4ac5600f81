import { oneOf, text } from '../../tools/rules.js';
import { Option, RequiredOption } from './option.js';
import { CursorOption, Page, PageQuery } from './page.js';

class Query extends PageQuery {
  @RequiredOption(text, 'A name.') name!: string;
  @Option(oneOf(['new', 'old']), 'An age.') age: string | undefined;
}

class FixedQuery {
  readonly limit = 2;
  @CursorOption() cursor: string | undefined;
}

const rows = ['a', 'b', 'c', 'd', 'e'];
const links: string[] = [];
const read = (query: object) => Page.read(Query, query, '/list', (cursor) => links.push(cursor));

/** Answers a page as a list does that is ordered by its rows. */
function answer<Options extends Query | FixedQuery>(page: Page<Options>) {
  const after = page.after((position) => (rows.includes(position) ? position : undefined));
  const from = after === undefined ? 0 : rows.indexOf(after) + 1;
  return page.of(
    rows.slice(from, from + page.limit + 1),
    (row) => row,
    (row) => row.toUpperCase(),
  );
}

it('continues with the filters and the limit of the first page, including required filters', () => {
  const first = answer(read({ name: 'x', limit: '2', age: '' }));
  expect(first).toEqual({ data: ['A', 'B'], next_cursor: links.at(-1) });
  const page = read({ cursor: first.next_cursor });
  expect(page.query).toMatchObject({ name: 'x', limit: 2 });
  const second = answer(page);
  expect(second.data).toEqual(['C', 'D']);
  const wider = answer(read({ cursor: first.next_cursor, name: 'x', limit: '9' }));
  expect(wider).toEqual({ data: ['C', 'D', 'E'], next_cursor: null });
});

it('may have a fixed size', () => {
  const first = answer(Page.read(FixedQuery, {}, '/fixed', () => undefined));
  const second = answer(Page.read(FixedQuery, { cursor: first.next_cursor }, '/fixed', () => undefined));
  expect([first.data, second.data]).toEqual([
    ['A', 'B'],
    ['C', 'D'],
  ]);
});

it('may end before it is full', () => {
  const page = read({ name: 'x' });
  expect(page.until(['a'], 'q', (row) => row).next_cursor).toBe(links.at(-1));
  // No list by UUIDs has this position.
  expect(() => read({ cursor: links.at(-1) }).afterId).toThrow('Start the list again');
});

it.each([
  ['without what the list needs', () => ({}), '"name"'],
  [
    'with another filter than its cursor',
    (cursor: string) => ({ cursor, name: 'y' }),
    'already has the filters',
  ],
  ['with two cursors', (cursor: string) => ({ cursor: [cursor, cursor] }), 'Start the list again'],
  ['with an unknown option', () => ({ name: 'x', agee: 'new' }), 'did you mean "age"?'],
  ['without a limit', () => ({ name: 'x', limit: '0' }), 'a whole number from 1 to 100'],
])('is refused %s', (_, query, detail) => {
  const { next_cursor: cursor } = answer(read({ name: 'x', limit: '1' }));
  expect(() => read(query(cursor!))).toThrow(
    expect.objectContaining({ code: 'invalid_query', message: expect.stringContaining(detail) as string }),
  );
});
