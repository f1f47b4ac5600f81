import { Pieces } from './pieces.js';

it('returns the bytes in their order, in few pieces, however small the chunks are', () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251));
  const pieces = new Pieces();
  for (let at = 0; at < 50_000; at++) pieces.push(bytes.subarray(at, at + 1));
  pieces.push(bytes.subarray(50_000, 60_000));
  for (let at = 60_000; at < 100_000; at += 10) pieces.push(bytes.subarray(at, at + 10));
  const all = pieces.take();
  expect(all.length).toBeLessThan(50);
  expect(Buffer.concat(all).equals(bytes)).toBe(true);
  expect(pieces.take()).toEqual([]);
});
