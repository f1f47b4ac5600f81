import { BoundedNames } from './bounded-names.js';

it('keeps the first names, and calls all others other', () => {
  const names = new BoundedNames(2);
  expect(['a', 'b', 'c', 'a', 'b'].map((name) => names.of(name))).toEqual(['a', 'b', 'other', 'a', 'b']);
});
