import { predictionOptions } from './prediction-options.js';

const model = { timeoutMs: 600_000, expiresMs: null };

it.each([
  ['30', 30_000, 30_000],
  ['90s', 90_000, 90_000],
  ['1h30m45s', 5_445_000, 600_000],
])(
  'Cancel-After: %s expires the request after %d ms and limits the run timeout',
  (field, lifeMs, timeoutMs) =>
    expect(predictionOptions({}, { 'cancel-after': field }, model)).toMatchObject({
      query: { expires: `${lifeMs}ms`, timeout: `${timeoutMs}ms` },
      lifeMs,
    }),
);

it('registers the webhook URL only for the requested events', () => {
  const webhook = 'https://example.org/hook';
  const of = (filter?: string[]): object =>
    predictionOptions({ webhook, webhook_events_filter: filter }, {}, model);
  const run = (...events: string[]): object => ({ runWebhook: { url: webhook, events } });
  expect(of()).toMatchObject({ query: { webhook }, ...run('request.output') });
  expect(of([])).toEqual(of());
  expect(of(['completed'])).toMatchObject({ query: { webhook }, runWebhook: undefined });
  expect(of(['start'])).toMatchObject({ query: {}, ...run('request.started') });
  expect(of(['completed', 'start', 'logs', 'logs'])).toMatchObject({
    query: { webhook },
    ...run('request.started', 'request.logs'),
  });
  expect(() => of(['other'])).toThrow('takes a list of start, output, logs, completed');
});
