import { warningOfNode } from './node-version.js';

test.each(['20.19.0', '21.7.3'])('Node %s: the operator is warned before it is dropped', (version) => {
  expect(warningOfNode(version)).toMatch(/^Node 2[01] gets no more fixes, .* needs Node 22 or newer/);
});

test.each(['22.0.0', '24.11.1', '26.1.0'])('Node %s is kept', (version) => {
  expect(warningOfNode(version)).toBeUndefined();
});
