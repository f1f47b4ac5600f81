import { mock } from 'node:test';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limitSilence } from './limit-silence.js';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

function limited(): { source: PassThrough; next: () => Promise<IteratorResult<Buffer>> } {
  const source = new PassThrough();
  const iterator = limitSilence(source, 1_000)[Symbol.asyncIterator]();
  return { source, next: () => iterator.next() };
}

test('a reader that waits for a byte for too long gets an error, and the source is closed', async () => {
  const { source, next } = limited();
  source.write('a');
  expect(String((await next()).value)).toBe('a');
  const second = next();
  await nextTurn();
  mock.timers.tick(999);
  source.write('b');
  expect(String((await second).value)).toBe('b');
  const third = expect(next()).rejects.toThrow('silence');
  await nextTurn();
  mock.timers.tick(999);
  await nextTurn();
  expect(source.destroyed).toBe(false);
  mock.timers.tick(1);
  await third;
  expect(source.destroyed).toBe(true);
});

test('a reader may take any time, and gets all bytes', async () => {
  const { source, next } = limited();
  const big = Buffer.alloc(10_000_000, 'x');
  source.end(big);
  let length = 0;
  for (let read = await next(); read.done !== true; read = await next()) {
    length += read.value.length;
    await nextTurn();
    mock.timers.tick(10_000);
  }
  expect(length).toBe(big.length);
});

test('a source that breaks off fails its reader', async () => {
  const { source, next } = limited();
  source.write('a');
  await next();
  source.destroy();
  await expect(next()).rejects.toThrow();
});
