import type { Model } from '../../models/model.js';
import { RunExecution } from './run-execution.js';
import type { Runner } from './runner.js';

const claimed = {
  id: '01890000-0000-7000-8000-000000000001',
  priority: 0,
  seq: 1,
  token: '00000000-0000-4000-8000-000000000000',
  attempt: 2,
  failedAttempts: 0,
  lostAttempts: 0,
  input: '{}',
};
const model = { id: 'test/model', timeoutMs: 60_000 } as Model;
const execution = (): RunExecution => new RunExecution(claimed, model, () => undefined);
const obedient: Runner = {
  run: ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
};

it('never starts what was told to stop before', async () => {
  const told = execution();
  told.abort('lost');
  told.abort('cancelled');
  let started = false;
  const eager: Runner = {
    run: () => {
      started = true;
      return Promise.resolve('{}');
    },
  };
  expect(await told.execute(eager)).toEqual({ kind: 'aborted', reason: 'lost' });
  expect(started).toBe(false);
});

it('ends with the first reason for which it was told to stop', async () => {
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
