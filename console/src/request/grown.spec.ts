import { grownBy, type Grown, nothing } from './grown';

const grown = (...deltas: unknown[]): Grown =>
  deltas.reduce<Grown>((before, delta) => grownBy(before, 'output', { delta }), nothing);

const texts = ({ parts }: Grown): string[] => parts.map(({ text }) => text);

it('has texts as one, and other parts each for itself', () => {
  const { parts } = grown('Once', ' upon', { a: 1 }, 'x', 'y');
  expect(parts.map(({ at, text, isJson }) => [at, text, isJson])).toEqual([
    [0, 'Once upon', false],
    [1, '{"a":1}', true],
    [2, 'xy', false],
  ]);
});

it('has the texts of chunks that a model server made', () => {
  const chunk = (content: string) => ({ model: 'm', message: { role: 'assistant', content }, done: false });
  expect(texts(grown(chunk('Once'), chunk(' upon')))).toEqual(['Once upon']);
});

it('begins anew with another attempt', () => {
  const again = grownBy(grown('wrong'), 'reset', { attempt: 2 });
  const right = grownBy(again, 'output', { delta: 'right' });
  expect([texts(right), right.dropped, right.attempt]).toEqual([['right'], 0, 2]);
});

it('keeps what a tab bears of it, and says how much is missing', () => {
  const long = grown('x'.repeat(150_000), 'y'.repeat(100_000));
  expect(texts(long)).toEqual(['x'.repeat(100_000) + 'y'.repeat(100_000)]);
  expect(long.dropped).toBe(50_000);
  const many = grown(...Array.from({ length: 1_200 }, (_, part) => [part]));
  expect([many.parts.length, many.dropped, many.parts[0]!.text]).toEqual([
    1_000,
    10 * 3 + 90 * 4 + 100 * 5,
    '[200]',
  ]);
});

it('shows the beginning of a large part, and says how much follows', () => {
  const [part] = grown({ image: 'x'.repeat(5_000_000) }).parts;
  expect([part!.text.length, part!.text.length + part!.rest]).toEqual([4_000, 5_000_012]);
});

it('bounds the sum of all parts, texts and others', () => {
  const part = { image: 'x'.repeat(100_000) };
  const { parts, dropped } = grown('a beginning', ...Array.from({ length: 100 }, () => part));
  expect([parts.length, parts[0]!.at]).toEqual([50, 51]);
  expect(dropped).toBe('a beginning'.length + 50 * JSON.stringify(part).length);
  const mixed = grown('x'.repeat(300_000), part, 'y'.repeat(100_000));
  expect(mixed.parts.map(({ text }) => text.length)).toEqual([96_000, 4_000, 100_000]);
});

it('stays as it is when it is done', () => {
  const before = grown('all');
  expect(grownBy(before, 'done', {})).toBe(before);
});
