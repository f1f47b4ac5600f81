import { BoundedNames } from './bounded-names.js';

it('retains the first names, and replaces all later names by "other"', () => {
  const names = new BoundedNames(2);
  expect(['a', 'b', 'c', 'a', 'b'].map((name) => names.of(name))).toEqual(['a', 'b', 'other', 'a', 'b']);
});
