import { fairGrant, fairShare, nodeOfGroup } from './divide-slots.js';

const grants = (modelId: string, concurrency: number, nodes: number): number[] =>
  Array.from({ length: nodes }, (_, rank) => fairGrant(modelId, concurrency, rank, nodes));

it('grants sum up to the concurrency, whatever the model and the number of nodes', () => {
  for (const modelId of ['a', 'acme/image/upscale', 'demo/text/echo', 'z'.repeat(256)]) {
    for (let nodes = 1; nodes <= 12; nodes++) {
      for (const concurrency of [1, 2, 3, 7, 8, 100, 10_000]) {
        const all = grants(modelId, concurrency, nodes);
        expect(all.reduce((sum, slots) => sum + slots, 0)).toBe(concurrency);
        expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(1);
      }
    }
  }
});

it('a single node has all slots', () => expect(grants('a/b', 8, 1)).toEqual([8]));

it('single slots of many models are spread over the nodes', () => {
  const holders = new Set(Array.from({ length: 50 }, (_, i) => grants(`model/${i}`, 1, 3).indexOf(1)));
  expect(holders).toEqual(new Set([0, 1, 2]));
});

describe('of a model that some nodes cannot reach', () => {
  const nodes = ['a', 'b', 'c'];
  const shares = (without: string[], concurrency = 8): number[] =>
    nodes.map((node) => fairShare('acme/up', concurrency, node, nodes, without));

  it('the others share all slots', () => {
    expect(shares(['b'])).toEqual([4, 0, 4]);
    expect(shares(['a', 'b'], 1)).toEqual([0, 0, 1]);
  });

  it('each node has its share if no node can reach the model', () =>
    expect(shares(nodes)).toEqual(shares([])));

  it('nodes that have left the cluster do not count', () =>
    expect(shares(['x', 'y', 'z'])).toEqual(shares([])));
});

describe('of a group', () => {
  const nodes = ['a', 'b', 'c', 'd'];
  const groups = Array.from({ length: 40 }, (_, at) => `gpu-${at}`);

  it('all slots go to one node, and different groups to different nodes', () => {
    const chosen = groups.map((group) => nodeOfGroup(group, nodes, []));
    expect(new Set(chosen)).toEqual(new Set(nodes));
  });

  it('a node that joins or leaves moves no group between two others', () => {
    for (const group of groups) {
      const before = nodeOfGroup(group, ['a', 'b', 'c'], []);
      expect([before, 'd']).toContain(nodeOfGroup(group, nodes, []));
    }
  });

  it('a node that reaches more of the models goes first', () => {
    for (const group of groups) {
      expect(['c', 'd']).toContain(nodeOfGroup(group, nodes, ['a', 'a', 'b']));
      expect(nodeOfGroup(group, ['a', 'b'], ['a', 'a', 'b'])).toBe('b');
    }
  });

  it('no node is chosen if there are no nodes', () => expect(nodeOfGroup('gpu-0', [], [])).toBe(undefined));
});
