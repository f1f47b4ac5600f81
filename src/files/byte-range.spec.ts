import { selectionOf } from './byte-range.js';

const of = { method: 'GET', etag: '"a"', size: 10 };

test.each([
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=0-', { start: 0, end: 9 }],
  ['bytes=9-99', { start: 9, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-30', { start: 0, end: 9 }],
  [`bytes=-${'9'.repeat(400)}`, { start: 0, end: 9 }],
  ['Bytes= 1-2 ', { start: 1, end: 2 }],
])('%s selects a part', (range, part) => {
  expect(selectionOf({ range }, of)).toEqual({ status: 206, range: part });
});

test.each(['bytes=10-', 'bytes=-0', 'bytes=999999999999999-', `bytes=${'9'.repeat(40)}-`])(
  '%s cannot be satisfied',
  (range) => {
    expect(selectionOf({ range }, of)).toEqual({ status: 416 });
  },
);

test.each(['bytes=', 'bytes=-', 'bytes=2-1', 'bytes=0-1,3-4', 'bytes=--1', 'bytes=1e1-', 'items=0-1', ''])(
  '"%s" is ignored, and the whole file is sent',
  (range) => {
    expect(selectionOf({ range }, of)).toEqual({ status: 200 });
  },
);

test('If-None-Match takes precedence over Range', () => {
  expect(selectionOf({ range: 'bytes=99-', 'if-none-match': 'W/"b", W/"a"' }, of)).toEqual({ status: 304 });
});

test.each([
  ['"a"', 200],
  ['"b", "a"', 200],
  ['*', 200],
  ['"b"', 412],
  ['W/"a"', 412],
  ['', 412],
])('If-Match: %s gets %i', (wanted, status) => {
  expect(selectionOf({ 'if-match': wanted }, of)).toEqual({ status });
});
