import { failureMessage } from './failure-message.js';

const refused = 'The model answered 400.';
const said = 'The model answered 400: The seed is too large.';

it.each([
  ['an error', refused, { error: 'The seed is too large.' }, said],
  ['a message', refused, { message: 'The seed is too large.' }, said],
  ['a detail', refused, { detail: 'The seed is too large.' }, said],
  ['details', refused, { details: 'The seed is too large.' }, said],
  ['a text', refused, 'The seed is too large.', said],
  ['details of a worker', 'The worker failed.', { error: 'no memory' }, 'The worker failed: no memory'],
  ['no words', refused, { code: 7 }, refused],
  ['no details', refused, undefined, refused],
  ['a page', refused, '<!doctype html><title>Bad Request</title>', refused],
  ['a message of the worker itself', 'The seed is odd.', { error: 'seed' }, 'The seed is odd.'],
])('adds the model’s own words, if any, from %s', (_, message, details, words) => {
  expect(failureMessage({ message, details })).toBe(words);
});
