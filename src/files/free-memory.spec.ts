import { freeMemory } from './free-memory.js';

it('frees a chunk that has memory of its own, where Node can', () => {
  const chunk = Buffer.alloc(1024, 'x');
  freeMemory(chunk);
  expect(chunk.byteLength).toBe('transfer' in ArrayBuffer.prototype ? 0 : 1024);
});

it('leaves the memory that a chunk shares with others', () => {
  const whole = Buffer.alloc(1024, 'x');
  freeMemory(whole.subarray(0, 512));
  freeMemory(Buffer.from(new SharedArrayBuffer(8)));
  expect(whole.toString()).toBe('x'.repeat(1024));
});
