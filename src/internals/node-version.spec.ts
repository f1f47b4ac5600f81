import { warningOfNode } from './node-version.js';

test.each(['20.19.0', '21.7.3'])('Node %s causes a warning that a newer version is needed', (version) => {
  expect(warningOfNode(version)).toMatch(/^Node 2[01] gets no more fixes, .* needs Node 22 or newer/);
});

test.each(['22.0.0', '24.11.1', '26.1.0'])('Node %s causes no warning', (version) => {
  expect(warningOfNode(version)).toBeUndefined();
});
