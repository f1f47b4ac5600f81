import { onceFor } from './once-for.js';

const model = { id: 'demo/image/fractal', description: '' };

describe('onceFor', () => {
  it('makes the result once for concurrent and later callers', async () => {
    let count = 0;
    const made = onceFor(
      () => [model],
      () => Promise.resolve(++count),
    );
    expect(await Promise.all([made(), made()])).toEqual([1, 1]);
    expect(await made()).toBe(1);
  });

  it('makes the result again when a model is another object', async () => {
    let [shown, count] = [[model], 0];
    const made = onceFor(
      () => shown,
      () => Promise.resolve(++count),
    );
    await made();
    shown = [{ ...model }];
    expect(await made()).toBe(2);
  });

  it('does not cache a failure', async () => {
    let count = 0;
    const made = onceFor(
      () => [model],
      () => (++count === 1 ? Promise.reject(new Error('no memory')) : Promise.resolve(count)),
    );
    await expect(made()).rejects.toThrow('no memory');
    expect(await made()).toBe(2);
  });

  it('retains the result for changed models when the earlier result fails later', async () => {
    let shown = [model];
    let failFirst: (error: Error) => void = () => undefined;
    const first = new Promise<number>((_resolve, reject) => (failFirst = reject));
    let count = 0;
    const made = onceFor(
      () => shown,
      () => (++count === 1 ? first : Promise.resolve(count)),
    );
    const old = made();
    shown = [{ ...model }];
    await made();
    failFirst(new Error('no memory'));
    await expect(old).rejects.toThrow('no memory');
    expect(await made()).toBe(2);
  });
});
