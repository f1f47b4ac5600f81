import { BoundedNames } from './bounded-names.js';

it('retains the first names, and replaces all later names by "other"', () => {
  const names = new BoundedNames(2);
  expect(['a', 'b', 'c', 'a', 'b'].map((name) => names.of(name))).toEqual(['a', 'b', 'other', 'a', 'b']);
});

it('gives the place of a dropped name to a later one', () => {
  const names = new BoundedNames(2);
  for (const name of ['a', 'b']) names.of(name);
  expect(names.retain(['b', 'c'])).toEqual(['a']);
  expect(['b', 'c', 'a'].map((name) => names.of(name))).toEqual(['b', 'c', 'other']);
});
