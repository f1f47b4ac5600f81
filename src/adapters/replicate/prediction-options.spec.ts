import { predictionOptions, preferredSeconds } from './prediction-options.js';

const model = { timeoutMs: 600_000, expiresMs: null };

it.each([
  [undefined, 0],
  ['wait', 60],
  ['respond-async, wait', 60],
  ['wait=5', 5],
  ['wait=120', 60],
  ['respond-async', 0],
  ['await', 0],
])('Prefer: %s waits %d s', (field, seconds) => expect(preferredSeconds(field)).toBe(seconds));

it.each([
  ['30', '30000ms', '30000ms'],
  ['90s', '90000ms', '90000ms'],
  ['1h30m45s', '5445000ms', '600000ms'],
])('Cancel-After: %s is a wait of %s and a run of %s', (field, expires, timeout) =>
  expect(predictionOptions({}, { 'cancel-after': field }, model).query).toEqual({ expires, timeout }),
);

it('names the URL for the events that are wanted', () => {
  const webhook = 'https://example.org/hook';
  const of = (filter?: string[]): object =>
    predictionOptions({ webhook, webhook_events_filter: filter }, {}, model);
  expect(of()).toEqual({ query: { webhook }, startWebhookUrl: undefined });
  expect(of([])).toEqual(of());
  expect(of(['start'])).toEqual({ query: {}, startWebhookUrl: webhook });
  expect(of(['completed', 'start', 'logs'])).toEqual({ query: { webhook }, startWebhookUrl: webhook });
  expect(() => of(['output'])).toThrow('"output" and "logs" are not sent');
  expect(() => of(['other'])).toThrow('takes a list of start, output, logs, completed');
});
