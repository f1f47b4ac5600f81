import { createHash } from 'node:crypto';
import { decodeCursor, encodeCursor } from './list-cursor.js';

const list = 'a list';
const cursor = encodeCursor(list, { query: { limit: '2' }, position: 'p1' });

/** Makes a cursor with the checksum that the list itself would give. */
function madeUp(json: string): string {
  const text = Buffer.from(json).toString('base64url');
  return createHash('sha256').update(`${list} ${text}`).digest('base64url').slice(0, 16) + text;
}

it('a cursor contains the query of its list and the next position', () => {
  expect(decodeCursor(list, cursor)).toEqual({ query: { limit: '2' }, position: 'p1' });
});

it.each([
  ['that was cut', cursor.slice(0, -1)],
  ['of another list', encodeCursor('another', { query: {}, position: 'p1' })],
  ['of a position that cannot be stored', encodeCursor(list, { query: {}, position: 'p\0' })],
  ...[
    '',
    'null',
    '7',
    '{}',
    '[]',
    '["p1"]',
    '["p1",null]',
    '["p1",7]',
    '[null,{}]',
    '[1,{}]',
    '["p",{"tag":1}]',
    '["p",{"tag":[["a"]]}]',
  ].map((json) => [`of ${json}`, madeUp(json)]),
])('a cursor %s is refused', (_, text) => {
  expect(() => decodeCursor(list, text)).toThrow(expect.objectContaining({ code: 'invalid_query' }));
});
