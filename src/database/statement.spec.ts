import { parameters } from './statement.js';

it('numbers placeholders in their order, with their types', () => {
  const { placeholders } = parameters({ id: 'uuid', names: 'text[]' });
  expect(placeholders).toEqual({ id: '$1::uuid', names: '$2::text[]' });
});

it('binds values by name, in the order of the placeholders, and nothing else', () => {
  const { bind } = parameters({ id: 'uuid', name: 'text' });
  const named = { name: 'b', other: 'c', id: 'a' };
  expect(bind(named)).toEqual(['a', 'b']);
});
