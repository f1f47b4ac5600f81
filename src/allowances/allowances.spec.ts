import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { Allowances } from './allowances.js';

const config = Object.assign(new Config(), {
  maxCallerBytes: 100,
  maxNodeBytes: 300,
  maxCallerStreams: 2,
  maxNodeStreams: 4,
});

function refusalOf(take: () => unknown): string | undefined {
  try {
    take();
    return undefined;
  } catch (error) {
    return (error as DomainError).code;
  }
}

let allowances: Allowances;
beforeEach(() => {
  allowances = new Allowances(config);
});

describe('a caller', () => {
  it('is refused above its allowance, and admitted again after a release', () => {
    const first = allowances.take('key:a', 'bytes', 60);
    allowances.take('key:a', 'bytes', 40);
    expect(refusalOf(() => allowances.take('key:a', 'bytes', 1))).toBe('caller_busy');
    first.release();
    first.release();
    allowances.take('key:a', 'bytes', 60);
    expect(allowances.usedBy('key:a').bytes).toBe(100);
  });

  it('that holds nothing is served, however large its call is', () => {
    const hold = allowances.take('key:a', 'bytes', 150);
    expect(refusalOf(() => allowances.take('key:a', 'bytes', 1))).toBe('caller_busy');
    hold.release();
    expect(allowances.inUse('bytes')).toBe(0);
  });

  it('retains its hold when the growth of the hold is refused', () => {
    const hold = allowances.take('key:a', 'bytes', 90);
    expect(refusalOf(() => hold.grow(20))).toBe('caller_busy');
    expect(allowances.usedBy('key:a').bytes).toBe(90);
    hold.release();
    hold.grow(20);
    expect(allowances.inUse('bytes')).toBe(0);
  });

  it('is refused with overloaded when the allowance of the node is used up', () => {
    for (const key of ['a', 'b', 'c']) allowances.take(`key:${key}`, 'bytes', 100);
    expect(refusalOf(() => allowances.take('key:d', 'bytes', 1))).toBe('overloaded');
    expect(allowances.refused.bytes).toEqual({ caller: 0, node: 1 });
  });
});

it('reserves half of the node’s allowance for callers with a key', () => {
  allowances.take('address:10.0.0.1', 'streams', 1);
  allowances.take('address:10.0.0.2', 'streams', 1);
  expect(refusalOf(() => allowances.take('address:10.0.0.3', 'streams', 1))).toBe('overloaded');
  allowances.take('key:a', 'streams', 2);
});

it('no longer counts released holds, neither for their callers nor for the node', () => {
  const holds = Array.from({ length: 3 }, (_, i) => allowances.take(`key:${i}`, 'streams', 1));
  for (const hold of holds) hold.release();
  expect(allowances.usedBy('key:0')).toEqual({ bytes: 0, streams: 0, workerCalls: 0 });
  expect(allowances.inUse('streams')).toBe(0);
});

it('counts streams and worker calls against one bound of the node, but against separate bounds of a caller', () => {
  allowances.take('key:a', 'streams', 1);
  allowances.take('key:a', 'workerCalls', 2);
  allowances.take('key:b', 'workerCalls', 1);
  expect(refusalOf(() => allowances.take('key:b', 'streams', 1))).toBe('overloaded');
  expect(refusalOf(() => allowances.take('key:b', 'workerCalls', 1))).toBe('overloaded');
});
