import { withJsonArray } from './json-array.js';

const arrayOf = (texts: string[]): Promise<string> =>
  withJsonArray(
    texts.map((text) => Buffer.from(text)),
    async (array) => array.toString(),
  );

it.each([[[]], [['1']], [['{"a":1}', '[]', '"é"']]])('writes %j as one array', async (texts) => {
  expect(await arrayOf(texts)).toBe(`[${texts.join(',')}]`);
});

it('keeps two that are in use at once apart, also when a third follows', async () => {
  const release: (() => void)[] = [];
  const held = ['1', '2'].map((text) =>
    withJsonArray([Buffer.from(text)], async (array) => {
      await new Promise<void>((resolve) => release.push(resolve));
      return array.toString();
    }),
  );
  release[0]!();
  expect(await held[0]).toBe('[1]');
  expect(await arrayOf(['3'])).toBe('[3]');
  release[1]!();
  expect(await held[1]).toBe('[2]');
});

it('gives its memory back after a failure, and makes more for what is larger', async () => {
  const failing = withJsonArray([Buffer.from('1')], () => Promise.reject(new Error('no database')));
  await expect(failing).rejects.toThrow('no database');
  const large = `"${'x'.repeat(3 * 1024 * 1024)}"`;
  expect(await arrayOf([large, '2'])).toBe(`[${large},2]`);
});
