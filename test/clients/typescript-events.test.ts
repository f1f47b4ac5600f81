import fc from 'fast-check';
import { EventParser } from '../../clients/typescript/src/sse.js';

const parsed = (pieces: string[]) => {
  const parser = new EventParser();
  return pieces.flatMap((piece) => parser.push(piece));
};

it.each([
  ['an event', 'id: 1\ndata: {"a":1}\n\n', [{ id: '1', data: '{"a":1}' }]],
  ['lines that end in CR LF', 'id: 1\r\ndata: a\r\n\r\n', [{ id: '1', data: 'a' }]],
  ['lines that end in CR', 'id: 1\rdata: a\r\rdata: b\n\n', ['a', 'b'].map((data) => ({ id: '1', data }))],
  ['comments', ': keep-alive\n\n:\n\ndata: a\n\n', [{ id: '', data: 'a' }]],
  ['data in lines', 'data: a\ndata\ndata:  b\n\n', [{ id: '', data: 'a\n\n b' }]],
  ['an id that stays', 'id: 7\ndata: a\n\ndata: b\n\n', ['a', 'b'].map((data) => ({ id: '7', data }))],
  ['other fields', 'retry: 1\nevent: x\ndata:a\n\n', [{ id: '', data: 'a' }]],
  ['an event without data', 'id: 3\n\n', []],
  ['an event that was cut', 'data: a\n\nid: 2\ndata: b', [{ id: '', data: 'a' }]],
])('%s', (_name, text, events) =>
  expect(parsed([text]).map(({ id, data }) => ({ id, data }))).toEqual(events),
);

it('an event has its own name, or the default name', () =>
  expect(parsed(['event: reset\ndata: a\n\ndata: b\n\n']).map(({ name }) => name)).toEqual([
    'reset',
    'message',
  ]));

it('a line of an event may arrive in many pieces', () => {
  const piece = 'a'.repeat(2 ** 16);
  const pieces = ['data: ', ...Array.from({ length: 1_000 }, () => piece), '\n', '\n'];
  expect(parsed(pieces).map(({ data }) => data.length)).toEqual([1_000 * piece.length]);
});

it('a stream has the same events, however it is split into pieces', () => {
  const line = fc.oneof(
    fc.constantFrom('', 'data', ':', 'id: 1', 'id: 2', 'data: b', 'event: c'),
    fc.string().map((text) => `data: ${text.replaceAll(/[\r\n]/g, '')}`),
  );
  const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')));
  fc.assert(
    fc.property(stream, fc.array(fc.nat(5)), (lines, sizes) => {
      // The LF of an empty line merges with a CR before it into one line end.
      const text = `${lines.flat().join('')}\n`;
      const pieces: string[] = [];
      let rest = text;
      for (const size of sizes) {
        pieces.push(rest.slice(0, size));
        rest = rest.slice(size);
      }
      expect(parsed([...pieces, rest])).toEqual(parsed([text]));
    }),
  );
});
