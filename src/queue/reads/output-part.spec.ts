import { chunksIn, deltaIn, partOf } from './output-part.js';

it.each<[what: string, delta: string, chunks: string[]]>([
  ['a delta with its chunks', '"a,\\n]}"', ['{"a": [1,2]}', '{"b":1.0}']],
  ['chunks alone', '', ['{"usage":{}}']],
  ['a delta whose chunk is in the part before', '"a"', []],
])('has %s', (_, delta, chunks) => {
  const part = partOf(delta, chunks);
  expect(JSON.parse(part)).toEqual({
    delta: delta === '' ? null : (JSON.parse(delta) as unknown),
    chunks: chunks.map((chunk) => JSON.parse(chunk) as unknown),
  });
  expect([deltaIn(part), chunksIn(part)]).toEqual([delta === '' ? undefined : delta, chunks]);
});

it('is only its delta if no chunks were stored', () => {
  const deltas = ['"a"', '1', 'null', '{"delta":"a","chunks":[{"b":1}]}'];
  expect(deltas.map(deltaIn)).toEqual(deltas);
  expect(deltas.map(chunksIn)).toEqual(deltas.map(() => undefined));
});
