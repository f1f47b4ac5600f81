import fc from 'fast-check';
import { hint } from './closest.js';

/** The edit distance by its definition. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const [restA, restB] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return distance(restA, restB);
  return 1 + Math.min(distance(restA, restB), distance(restA, b), distance(a, restB));
}

it.each([
  ['widht', ['width', 'height'], 'width'],
  ['webhook', ['webhook_url', 'web'], 'webhook_url'],
  ['acme/image/upscal', ['acme/image/upscale', 'acme/image/fractal'], 'acme/image/upscale'],
  ['zzz', ['width'], undefined],
  ['PROMPT', ['prompt'], 'prompt'],
  ['a', ['b'], undefined],
  ['x'.repeat(65), ['x'.repeat(64)], undefined],
])('for %s in %j, the nearest word is %s', (word, known, nearest) =>
  expect(hint(word, known)).toBe(nearest === undefined ? '' : `, did you mean "${nearest}"?`),
);

it('names a word at the shortest edit distance, if one is near enough', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 5 }), (asked, known) => {
      const near = known.filter((one) => distance(asked, one) < Math.min(3, one.length));
      const [, named] = /"(.*)"/.exec(hint(asked, known)) ?? [];
      const least = Math.min(...near.map((one) => distance(asked, one)));
      expect(named === undefined ? Infinity : distance(asked, named)).toBe(least);
    }),
  );
});
