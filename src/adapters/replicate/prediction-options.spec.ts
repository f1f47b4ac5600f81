import { predictionOptions } from './prediction-options.js';

const model = { timeoutMs: 600_000, expiresMs: 3_600_000 };

it.each([
  ['30', 30_000, { expires: '30000ms', timeout: '30000ms' }],
  ['90s', 90_000, { expires: '90000ms', timeout: '90000ms' }],
  ['10m', 600_000, { expires: '600000ms' }],
  ['1h30m45s', 5_445_000, {}],
])(
  'Cancel-After: %s is an age of %d ms, and bounds the request where it is below its model',
  (field, lifeMs, query) =>
    expect(predictionOptions({}, { 'cancel-after': field }, model)).toEqual({ query, lifeMs }),
);

it.each(['4s', '721h', '720h1s', '999999h', '999999999', 'soon', ''])(
  'Cancel-After: "%s" is refused, because it is no duration from 5 seconds to 30 days',
  (field) => expect(() => predictionOptions({}, { 'cancel-after': field }, model)).toThrow('from 5s to 720h'),
);

it('Cancel-After takes 30 days', () =>
  expect(predictionOptions({}, { 'cancel-after': '720h' }, model)).toMatchObject({ lifeMs: 2_592_000_000 }));

it('Cancel-After bounds the wait for a model without a bound of its own', () =>
  expect(predictionOptions({}, { 'cancel-after': '2h' }, { ...model, expiresMs: null }).query).toEqual({
    expires: '7200000ms',
  }));

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
