import { Logger } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { CompletionLog } from './completion-log.js';

let lines: [level: string, text: unknown, told?: unknown][] = [];
const writeAs =
  (level: string) =>
  (first: unknown, second?: unknown): void =>
    void lines.push(typeof first === 'string' ? [level, first] : [level, second, first]);

beforeAll(() =>
  Logger.overrideLogger({
    log: writeAs('info'),
    warn: writeAs('warn'),
    error: writeAs('error'),
    debug: writeAs('debug'),
  }),
);
beforeEach(() => {
  lines = [];
  jest.useFakeTimers();
});
afterEach(() => void jest.useRealTimers());

const at = (logLevel: string): CompletionLog => new CompletionLog(Object.assign(new Config(), { logLevel }));
const request = { id: 'r-1', modelId: 'acme/up', attempt: 2 };
const failure = { code: 'model_error', message: 'The model answered 500.' };
const failed = { ...request, outcome: 'failed', failure } as const;
const fields = (count: number) => ({ model: 'acme/up', code: 'model_error', count });

it('a failed request is logged as a warning with the request, model, code and message', () => {
  at('info').onCompleted([failed]);
  const text = 'r-1 of acme/up failed with model_error after 2 attempts: The model answered 500.';
  expect(lines).toEqual([['warn', text, fields(1)]]);
});

it('a failed attempt that will be retried is logged as info', () => {
  at('info').onRequeued([{ ...request, reason: 'failed', delayMs: 1_500, failure }]);
  const text = 'attempt 2 of r-1 of acme/up failed with model_error: The model answered 500.';
  expect(lines).toEqual([['info', `${text} (the next one starts in 2 s)`, fields(1)]]);
});

it('a model and code have one line a minute, with the number of requests', () => {
  const log = at('info');
  log.onCompleted(Array<typeof failed>(40).fill(failed));
  log.onCompleted([{ ...failed, failure: { ...failure, code: 'timed_out' } }]);
  log.onCompleted([{ ...failed, id: 'r-42', modelId: 'acme/down' }]);
  expect(lines.map(([, , told]) => told)).toMatchObject(Array(3).fill({ count: 1 }));
  jest.advanceTimersByTime(59_999);
  expect(lines).toHaveLength(3);
  log.onCompleted([{ ...failed, id: 'r-43' }]);
  jest.advanceTimersByTime(1);
  const text =
    '40 more requests of acme/up failed with model_error, most recently r-43: The model answered 500.';
  expect(lines.slice(3)).toEqual([['warn', text, fields(40)]]);
  jest.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(4);
  expect(jest.getTimerCount()).toBe(0);
  log.onCompleted([failed]);
  expect(lines).toHaveLength(5);
});

it('pending counts are logged at shutdown', () => {
  const log = at('info');
  log.onCompleted([failed, failed, failed]);
  log.onApplicationShutdown();
  expect(lines.map(([, , told]) => told)).toMatchObject([{ count: 1 }, { count: 2 }]);
});

it('a broken runner is logged as an error, with its cause', () => {
  const cause = new Error('x');
  at('info').onCompleted([{ ...failed, failure: { ...failure, cause } }]);
  const told = { model: 'acme/up', count: 1, err: cause };
  expect(lines).toEqual([['error', 'the runner of acme/up broke on r-1', told]]);
});

it('a lost node is logged, and so is the request that it ran', () => {
  at('info').onNodeLost([{ id: 'n-1', name: 'left' }]);
  at('info').onRequeued([{ ...request, reason: 'lost', delayMs: 0 }]);
  expect(lines).toEqual([
    ['warn', 'node left sends no heartbeats and is treated as lost', { nodeId: 'n-1' }],
    [
      'warn',
      'the node that ran r-1 of acme/up was lost; the request runs again',
      { model: 'acme/up', count: 1 },
    ],
  ]);
});

it('a lost worker is logged as a worker, not as a node', () => {
  at('info').onRequeued([{ ...request, reason: 'lost', lost: 'worker', delayMs: 0 }]);
  expect(lines).toEqual([
    [
      'warn',
      'the worker that ran r-1 of acme/up was lost; the request runs again',
      { model: 'acme/up', count: 1 },
    ],
  ]);
});

it('each end of a run is logged only at debug', () => {
  const ends = (log: CompletionLog): void => {
    log.onCompleted([{ ...request, outcome: 'succeeded', runMs: 12.3 }]);
    log.onRequeued([{ ...request, reason: 'returned', delayMs: 0 }]);
  };
  ends(at('info'));
  expect(lines).toEqual([]);
  ends(at('debug'));
  expect(lines).toEqual([
    ['debug', 'r-1 of acme/up succeeded after 2 attempts in 12 ms'],
    ['debug', 'r-1 of acme/up was handed back to its queue'],
  ]);
});
