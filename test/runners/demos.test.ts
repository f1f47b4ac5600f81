import { inflateSync } from 'node:zlib';
import { DemoRunner } from '../../src/runners/demo-runner.js';
import { failureOf, noFiles, testRun, type TestRun } from '../support/test-run.js';
import { until } from '../support/until.js';

const runner = new DemoRunner(noFiles);

function demoRun(demo: 'echo' | 'fractal' | 'flaky' | 'story', input: object, attempt = 1): TestRun {
  return testRun({ kind: 'demo', demo }, JSON.stringify(input), attempt);
}

describe('the echo', () => {
  it('answers with its input, byte for byte', async () => {
    const input = '{ "a": 12345678901234567890 ,"b":"\\u0000"}';
    expect(await runner.run(testRun({ kind: 'demo', demo: 'echo' }, input))).toBe(input);
  });
});

describe('the flaky model', () => {
  it('succeeds after the number of failed attempts in its input', async () => {
    const input = { fail_attempts: 2, retry_after: 3 };
    for (const attempt of [1, 2]) {
      const { options } = await failureOf(runner, demoRun('flaky', input, attempt));
      expect(options).toEqual({ code: 'model_unavailable', retryable: true, retryAfterMs: 3_000 });
    }
    expect(await runner.run(demoRun('flaky', input, 3))).toBe('{"ok":true,"attempts":3}');
    expect(await runner.run(demoRun('flaky', { fail_attempts: 0 }))).toBe('{"ok":true,"attempts":1}');
  });

  it.each([
    [400, { code: 'model_error', retryable: false, status: 400, details: { message: 'no', attempt: 1 } }],
    [429, { code: 'model_error', retryable: true, details: { message: 'no', attempt: 1 } }],
    [500, { code: 'model_error', retryable: true }],
    [501, { code: 'model_error', retryable: false }],
    [504, { code: 'model_unavailable', retryable: true }],
  ])('fails with %i as an http model would', async (status, options) => {
    const failure = await failureOf(runner, demoRun('flaky', { status, message: 'no' }));
    expect(failure.message).toBe('no');
    expect(failure.options).toEqual(options);
  });

  it('throws an unexpected error when its input asks for a crash', async () => {
    await expect(failureOf(runner, demoRun('flaky', { crash: true }))).rejects.toThrow('another way');
  });

  it('stops waiting when its run is stopped', async () => {
    const run = demoRun('flaky', { delay_ms: 600_000 });
    const result = expect(runner.run(run)).rejects.toThrow();
    run.abort('cancelled');
    await result;
  });
});

describe('the story', () => {
  async function tell(prompt: string, words: number): Promise<TestRun> {
    const run = demoRun('story', { prompt, words });
    expect(await runner.run(run)).toBeUndefined();
    return run;
  }

  it('is streamed word by word, and is the same for the same prompt', async () => {
    const [one, same, other] = await Promise.all([
      tell('a lighthouse', 9),
      tell('a lighthouse', 9),
      tell('a', 9),
    ]);
    const text = one.deltas.map((delta) => JSON.parse(delta) as string);
    expect(text).toHaveLength(9);
    expect(text.join('')).toMatch(/^[A-Z][a-z]*( [A-Za-z]+[.,]?){8}$/);
    expect(same.deltas).toEqual(one.deltas);
    expect(other.deltas).not.toEqual(one.deltas);
    expect(one.steps.at(-1)).toEqual([1, undefined]);
  });

  it('stops when its run is stopped', async () => {
    const run = demoRun('story', { prompt: 'a', words: 2_000 });
    const result = expect(runner.run(run)).rejects.toThrow();
    await until(() => run.deltas.length > 0);
    run.abort('cancelled');
    await result;
  });
});

describe('the fractal', () => {
  interface FractalOutput {
    image: { url: string; width: number; height: number };
    seed: number;
  }

  async function draw(input: object): Promise<{ output: FractalOutput; png: Buffer; run: TestRun }> {
    const run = demoRun('fractal', input);
    const output = JSON.parse((await runner.run(run))!) as FractalOutput;
    const [, base64] = /^data:image\/png;base64,(.+)$/.exec(output.image.url)!;
    return { output, png: Buffer.from(base64!, 'base64'), run };
  }

  it('is a PNG of the size that was asked for', async () => {
    const { output, png } = await draw({ prompt: 'a lighthouse', width: 40, height: 30, steps: 50 });
    expect(output).toMatchObject({ image: { width: 40, height: 30 }, seed: expect.any(Number) as number });
    expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([40, 30]);
    const length = png.readUInt32BE(33);
    expect(png.subarray(37, 41).toString('latin1')).toBe('IDAT');
    expect(inflateSync(png.subarray(41, 41 + length))).toHaveLength(30 * (40 * 3 + 1));
    expect(png.subarray(-8).toString('hex')).toBe('49454e44ae426082');
  });

  it('is the same for the same prompt, and different for a different prompt', async () => {
    const input = { prompt: 'a lighthouse', width: 32, height: 32 };
    const one = await draw(input);
    expect((await draw(input)).output).toEqual(one.output);
    expect((await draw({ ...input, prompt: 'a storm' })).png.equals(one.png)).toBe(false);
  });

  it('logs its progress in tenths', async () => {
    const { run } = await draw({ prompt: 'a', width: 16, height: 100, steps: 16 });
    expect(run.lines.map(({ message }) => message).slice(1)).toEqual(
      Array.from({ length: 10 }, (_, n) => `${(n + 1) * 10} % drawn.`),
    );
  });

  it('ends its thread when its run is stopped', async () => {
    const threads = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    const before = threads();
    const run = demoRun('fractal', { prompt: 'a', width: 2048, height: 2048, steps: 2048 });
    const result = expect(runner.run(run)).rejects.toThrow(
      'the worker thread ended before the picture was done',
    );
    await until(() => threads() > before, { message: 'the thread is there' });
    run.abort('cancelled');
    await result;
    await until(() => threads() === before, { message: 'the thread is gone' });
  });

  it('is not begun when its run is stopped already', async () => {
    const run = demoRun('fractal', { prompt: 'a' });
    run.abort('shutdown');
    await expect(runner.run(run)).rejects.toBe('shutdown');
  });
});
