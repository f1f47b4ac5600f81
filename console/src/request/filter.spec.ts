import { isWholeId, toFilter } from './filter';

test('an address is read as the filter that it shows, and nothing else in it counts', () => {
  const address = 'model_id=acme%2Fimage&outcome=failed&tag=job:17&tag=a:b&code=&cursor=x&ids=1';
  expect(toFilter(new URLSearchParams(address))).toEqual({
    model_id: 'acme/image',
    outcome: 'failed',
    tag: ['job:17', 'a:b'],
  });
  expect(toFilter(new URLSearchParams())).toEqual({});
});

test.each([
  ['01a1fbb3-65c9-706a-ab5f-d44e3660d916', true],
  ['rh_Zm9vYmFyYmF6cXV4LTAxMg', true],
  ['01a1fbb3', false],
  ['', false],
])('%j names one request: %s', (text, isOne) => {
  expect(isWholeId(text)).toBe(isOne);
});
