import { errorMessageOf } from './error-message.js';

const refused = 'The model answered 400.';

it.each([
  ['an error', refused, { error: 'The seed is too large.' }, 'The seed is too large.'],
  ['a message', refused, { message: 'The seed is too large.' }, 'The seed is too large.'],
  ['a detail', refused, { detail: 'The seed is too large.' }, 'The seed is too large.'],
  ['details', refused, { details: 'The seed is too large.' }, 'The seed is too large.'],
  ['a text', refused, 'The seed is too large.', 'The seed is too large.'],
  ['details of a worker', 'The worker failed.', { error: 'no memory' }, 'no memory'],
  ['no words', refused, { code: 7 }, refused],
  ['no details', refused, undefined, refused],
  ['a page', refused, '<!doctype html><title>Bad Request</title>', refused],
  ['a message of the worker itself', 'The seed is odd.', { error: 'seed' }, 'The seed is odd.'],
])('says what the model said in %s', (_, message, details, words) => {
  expect(errorMessageOf({ message, details })).toBe(words);
});
