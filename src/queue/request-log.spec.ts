import { Logger } from '@nestjs/common';
import { Config } from '../config/config.js';
import { RequestLog } from './request-log.js';

let lines: [level: string, line: unknown][] = [];
const writeAs =
  (level: string) =>
  (line: unknown): void =>
    void lines.push([level, line]);

beforeAll(() =>
  Logger.overrideLogger({
    log: writeAs('info'),
    warn: writeAs('warn'),
    error: writeAs('error'),
    debug: writeAs('debug'),
  }),
);
beforeEach(() => (lines = []));

const at = (logLevel: string): RequestLog => new RequestLog(Object.assign(new Config(), { logLevel }));
const request = { id: 'r-1', modelId: 'acme/up', attempt: 2 };
const failure = { code: 'model_error', message: 'The model answered 500.' };

it('a failed attempt is one line that names request, model, code and what the model said', () => {
  at('info').onCompleted([{ ...request, outcome: 'failed', failure }]);
  at('info').onRequeued([{ ...request, reason: 'failed', delayMs: 1_500, failure }]);
  const line = 'attempt 2 of r-1 of acme/up failed with model_error: The model answered 500.';
  expect(lines).toEqual([
    ['warn', `${line} (it is not tried again)`],
    ['warn', `${line} (the next one follows in 2 s)`],
  ]);
});

it('a runner that broke is an error, with what it broke with', () => {
  const cause = new Error('x');
  at('info').onCompleted([{ ...request, outcome: 'failed', failure: { ...failure, cause } }]);
  expect(lines).toEqual([['error', `the runner of acme/up broke on r-1: ${cause.stack}`]]);
});

it('a lost node is named, and so is what ran there', () => {
  at('info').onNodeLost([{ id: 'n-1', name: 'left' }]);
  at('info').onRequeued([{ ...request, reason: 'lost', delayMs: 0 }]);
  expect(lines).toEqual([
    ['warn', 'node left (n-1) sends no heartbeats; it is given up'],
    ['warn', 'the node that ran r-1 of acme/up was lost; it runs again'],
  ]);
});

it('what goes well is for debug alone', () => {
  const wells = (log: RequestLog): void => {
    log.onCompleted([{ ...request, outcome: 'succeeded' }]);
    log.onRequeued([{ ...request, reason: 'returned', delayMs: 0 }]);
  };
  wells(at('info'));
  expect(lines).toEqual([]);
  wells(at('debug'));
  expect(lines.map(([level]) => level)).toEqual(['debug', 'debug']);
});
