import { EventBuffer, outputOf } from './event-buffer.js';

const taken = (...deltas: string[]): string[] => {
  const buffer = new EventBuffer();
  for (const delta of deltas) buffer.addDelta(delta);
  return buffer.take().deltas;
};

it('joins consecutive strings, whatever they contain', () => {
  expect(taken('"a"', '"\\""', '""', '"\\u0009b"', '{"c":"d"}', '"e"', '"f"', '1')).toEqual([
    '"a\\"\\u0009b"',
    '{"c":"d"}',
    '"ef"',
    '1',
  ]);
});

const whole = (...deltas: string[]): string[] => {
  const buffer = new EventBuffer();
  for (const delta of deltas) buffer.addDelta(delta);
  const first = buffer.take().deltas;
  buffer.end();
  return [...first, ...buffer.take().deltas];
};

it.each([
  ['NUL', ['"a\\u0000"', '{"\\u0000":1}'], ['"a\\ufffd"', '{"\\ufffd":1}']],
  ['a pair that two strings share', ['"a\\ud83d"', '"\\ude00b"'], ['"a\\ud83d\\ude00b"']],
  ['the same, of strings of one half each', ['"\\ud83d"', '"\\ude00"'], ['"\\ud83d\\ude00"']],
  ['a half that the next string does not go on', ['"\\ud83d"', '"b"'], ['"\\ufffdb"']],
  ['a half before something else', ['"a\\ud83d"', '1', '"\\ude00"'], ['"a\\ufffd"', '1', '"\\ufffd"']],
  ['a half at the end', ['"a\\ud83d"'], ['"a"', '"\\ufffd"']],
  ['two first halves', ['"\\ud83d\\ud83d"', '"\\ude00"'], ['"\\ufffd\\ud83d\\ude00"']],
  ['an escaped backslash before what looks like a half', ['"\\\\ud83d"', '"b"'], ['"\\\\ud83db"']],
])('makes %s storable in PostgreSQL', (_, deltas, rows) => {
  expect(whole(...deltas)).toEqual(rows);
});

it('puts chunks with and without a delta into one row', () => {
  const buffer = new EventBuffer();
  buffer.addChunk('{"role":1}', []);
  buffer.addChunk('{"text":"a\\u0000"}', ['"a\\ud83d"']);
  buffer.addChunk('{"text":"b"}', ['"\\ude00b"']);
  const [row, ...more] = buffer.take().deltas;
  expect(more).toEqual([]);
  expect(row!.split('\n')).toEqual([
    '{"delta":"a\\ud83d\\ude00b","chunks":[',
    '{"role":1},',
    '{"text":"a\\ufffd"},',
    '{"text":"b"}',
    ']}',
  ]);
});

it('begins another row of chunks after 16 KiB, and another row for each delta that is not a text', () => {
  const buffer = new EventBuffer();
  const long = JSON.stringify('x'.repeat(16 * 1024));
  buffer.addChunk(long, []);
  buffer.addChunk('1', ['"a"']);
  buffer.addChunk('2', ['{}']);
  buffer.addChunk('3', ['"b"']);
  const rows = buffer.take().deltas.map((row) => JSON.parse(row) as object);
  expect(rows).toEqual([
    { delta: null, chunks: [JSON.parse(long)] },
    { delta: 'a', chunks: [1, 2] },
    { delta: {}, chunks: [3] },
    { delta: 'b', chunks: [] },
  ]);
});

it('begins another row after 16 KiB', () => {
  const long = JSON.stringify('x'.repeat(16 * 1024));
  expect(taken('"a"', long, '"b"').map(({ length }) => length)).toEqual([long.length + 1, 3]);
});

it('hands out about 1 MiB at a time, and the rest later', () => {
  const buffer = new EventBuffer();
  const part = JSON.stringify('x'.repeat(60_000));
  for (let i = 0; i < 40; i++) buffer.addDelta(part);
  const first = buffer.take();
  expect(first).toMatchObject({ count: 18, logs: [], progress: null });
  expect(buffer.take().deltas.length + buffer.take().deltas.length).toBe(22);
  expect(buffer.isEmpty).toBe(true);
  expect(buffer.deltaBytes).toBe(0);
});

it.each<[string[], string | undefined]>([
  [[], undefined],
  [['"a"', '"b\\n"', '""'], '"ab\\n"'],
  [['1'], '[1]'],
  [['"a"', '"b"', '1.0', '"c"', '"d"'], '["ab",1.0,"cd"]'],
  [['"\\ud83d"', '"\\udc08"'], '"\\ud83d\\udc08"'],
])('combines %j into the output %s', (deltas, output) => {
  expect(outputOf(deltas)).toBe(output);
  if (output !== undefined) JSON.parse(output);
});
