import { grownBy, type Grown, nothing } from './grown';

const grown = (...deltas: unknown[]): Grown =>
  deltas.reduce<Grown>((before, delta) => grownBy(before, 'output', { delta }), nothing);

it('has texts as one, and other parts each for itself', () => {
  expect(grown('Once', ' upon', { a: 1 }, 'x', 'y').parts).toEqual(['Once upon', { a: 1 }, 'xy']);
});

it('has the texts of chunks that a model server made', () => {
  const chunk = (content: string) => ({ model: 'm', message: { role: 'assistant', content }, done: false });
  expect(grown(chunk('Once'), chunk(' upon')).parts).toEqual(['Once upon']);
});

it('begins anew with another attempt', () => {
  const again = grownBy(grown('wrong'), 'reset', { attempt: 2 });
  expect(grownBy(again, 'output', { delta: 'right' })).toEqual({ parts: ['right'], dropped: 0, attempt: 2 });
});

it('keeps what a tab bears of it, and says how much is missing', () => {
  const long = grown('x'.repeat(150_000), 'y'.repeat(100_000));
  expect(String(long.parts[0])).toHaveLength(200_000);
  expect(long.dropped).toBe(50_000);
  const many = grown(...Array.from({ length: 1_200 }, (_, part) => part));
  expect([many.parts.length, many.dropped, many.parts[0]]).toEqual([1_000, 200, 200]);
});

it('stays as it is when it is done', () => {
  const before = grown('all');
  expect(grownBy(before, 'done', {})).toBe(before);
});
