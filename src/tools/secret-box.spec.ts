import { randomBytes } from 'node:crypto';
import { open, seal } from './secret-box.js';

const key = randomBytes(32);

test('a sealed secret opens with its key and context', () => {
  const box = seal(key, 'whsec_abc', 'key 1');
  expect(open(key, box, 'key 1')).toBe('whsec_abc');
  expect(box.toString('latin1')).not.toContain('whsec_');
});

test('two boxes of the same secret differ', () =>
  expect(seal(key, 'whsec_abc', 'key 1')).not.toEqual(seal(key, 'whsec_abc', 'key 1')));

test('a box does not open with another key, with another context, or after a change', () => {
  const box = seal(key, 'whsec_abc', 'key 1');
  expect(() => open(randomBytes(32), box, 'key 1')).toThrow();
  expect(() => open(key, box, 'key 2')).toThrow();
  for (const i of [0, 12, box.length - 1]) {
    const changed = Buffer.from(box);
    changed[i]! ^= 1;
    expect(() => open(key, changed, 'key 1')).toThrow();
  }
});
