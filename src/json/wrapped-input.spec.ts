import { DomainError } from '../errors/domain-error.js';
import { readWrappedInput } from './wrapped-input.js';

it('takes the input as it was written, and the other members', () => {
  const { fields, input } = readWrappedInput(Buffer.from('{"a": 1, "input": {"n": 1.0}, "b": null}'));
  expect([fields, input.toString()]).toEqual([{ a: 1, b: null }, '{"n": 1.0}']);
});

it.each([
  ['bad_request', 'The body needs an "input": {"input": {"prompt": "a cat"}}.', '{}'],
  ['invalid_json', 'The input must be a JSON object, such as {"prompt": "a cat"}.', '{"input": 1}'],
  ['invalid_json', 'The body must be a JSON object, such as {"input": {"prompt": "a cat"}}.', '[]'],
  [
    'too_large',
    'The body without its input may have 16384 characters at most.',
    `{"input": {}, "more": "${'x'.repeat(16 * 1024)}"}`,
  ],
])('refuses as %s: %s', (code, message, body) => {
  let error: unknown;
  try {
    readWrappedInput(Buffer.from(body));
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(DomainError);
  expect(error).toMatchObject({ code, message });
});
