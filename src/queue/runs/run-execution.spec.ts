import type { Model } from '../../models/model.js';
import { runOptionsOf } from '../submit/submission-options.js';
import { UnstoredResults } from './unstored-results.js';
import { type RunBooks, type RunEnd, RunExecution } from './run-execution.js';
import type { Runner } from './runner.js';

const claimed = {
  id: '01890000-0000-7000-8000-000000000001',
  priority: 0,
  seq: 1,
  token: '00000000-0000-4000-8000-000000000000',
  start: 0,
  attempt: 2,
  failedAttempts: 0,
  lostAttempts: 0,
  boundedKeyId: null,
  timeoutMs: null,
  queueMs: 0,
  ...runOptionsOf(undefined),
  input: '{}',
};
const model = { id: 'test/model', timeoutMs: 60_000 } as Model;
const execution = (
  keepLease: RunBooks['keepLease'] = () => Promise.reject(new Error('it keeps nothing')),
): RunExecution =>
  new RunExecution(
    claimed,
    model,
    () => {
      throw new Error('it says nothing');
    },
    () => 0,
    new UnstoredResults(),
    {
      facts: () => Promise.reject(new Error('it asks for nothing')),
      keepLease,
      keepFollowed: () => Promise.reject(new Error('it is not followed')),
      forgetFollowed: () => Promise.reject(new Error('it is not followed')),
    },
  );
const obedient: Runner = {
  run: ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
};

it('never starts a run that was asked to stop before', async () => {
  const aborted = execution();
  aborted.abort('lost');
  aborted.abort('cancelled');
  let started = false;
  const eager: Runner = {
    run: () => {
      started = true;
      return Promise.resolve('{}');
    },
  };
  expect(await aborted.execute(eager)).toEqual({ kind: 'aborted', reason: 'lost' });
  expect(started).toBe(false);
});

it('ends with the first reason for which it was asked to stop', async () => {
  const running = execution();
  const end = running.execute(obedient);
  running.abort('timed_out');
  running.abort('cancelled');
  expect(await end).toEqual({ kind: 'aborted', reason: 'timed_out' });
});

it('fails when its runner throws instead of rejecting', async () => {
  const error = new Error('no such kind');
  const broken: Runner = {
    run: () => {
      throw error;
    },
  };
  expect(await execution().execute(broken)).toEqual({ kind: 'failure', error });
});

describe('a run whose result is made', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** Returns a run that stores a file until it is stopped, and the times at which it kept its lease. */
  function storing(answers: (boolean | Error)[]): {
    end: Promise<RunEnd>;
    kept: number[];
    close: () => void;
  } {
    const kept: number[] = [];
    const began = performance.now();
    const run = execution(() => {
      kept.push(Math.round((performance.now() - began) / 1_000));
      const answer = answers.shift() ?? true;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    });
    const end = run.execute({
      run: (one) => {
        one.made();
        return obedient.run(one);
      },
    });
    return { end, kept, close: () => run.close() };
  }

  it('keeps its lease from its deadline on until its end is stored', async () => {
    const { kept, close } = storing([]);
    await jest.advanceTimersByTimeAsync(59_000);
    expect(kept).toEqual([]);
    await jest.advanceTimersByTimeAsync(125_000);
    expect(kept).toEqual([60, 120, 180]);
    close();
    await jest.advanceTimersByTimeAsync(600_000);
    expect(kept).toHaveLength(3);
  });

  it('keeps its lease for six hours, and then another node may take it', async () => {
    const { kept, close } = storing([]);
    await jest.advanceTimersByTimeAsync(7 * 3_600_000);
    expect(kept.at(-1)).toBe(60 + 6 * 3_600);
    close();
  });

  it('tries again soon when the database is away', async () => {
    const { kept, close } = storing([new Error('away'), new Error('away')]);
    await jest.advanceTimersByTimeAsync(62_000);
    expect(kept).toEqual([60, 61, 61]);
    close();
  });

  it('stops when its lease is gone', async () => {
    const { end } = storing([false]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await end).toEqual({ kind: 'aborted', reason: 'lost' });
  });

  it('keeps its lease at once if its output comes past the deadline', async () => {
    const kept: string[] = [];
    const run = execution(({ requestId }) => {
      kept.push(requestId);
      return Promise.resolve(true);
    });
    const end = run.execute({
      run: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('1'))),
    });
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await end).toEqual({ kind: 'output', output: '1' });
    expect(kept).toEqual([claimed.id]);
    run.close();
  });
});
