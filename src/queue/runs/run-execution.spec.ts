import type { Model } from '../../models/model.js';
import { runOptionsOf } from '../submit/submission-options.js';
import { UnstoredResults } from './unstored-results.js';
import { RunExecution } from './run-execution.js';
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
const execution = (): RunExecution =>
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
