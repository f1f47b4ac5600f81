import { headerFieldsOf } from '../../http/input/option.js';
import { SubmitHeaders } from './submit.headers.js';

const keyOf = (header: unknown) =>
  headerFieldsOf(SubmitHeaders, { 'idempotency-key': header })['idempotency-key'];

it.each([
  ['no header', undefined, undefined],
  ['a bare word', '8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['a quoted string', '"8e03978e"', '8e03978e'],
  ['a quoted string with spaces', '"order 17 / second try"', 'order 17 / second try'],
  ['escaped quotes and backslashes', String.raw`"a\"b\\c"`, String.raw`a"b\c`],
  ['space around it', '  key-1\t', 'key-1'],
  ['the longest', 'k'.repeat(255), 'k'.repeat(255)],
])('%s', (_name, header, key) => expect(keyOf(header)).toBe(key));

it.each([
  ['an empty one', ''],
  ['empty quotes', '""'],
  ['only spaces', '   '],
  ['spaces without quotes', 'a b'],
  ['two of them, as the server joins them', 'a, b'],
  ['a list', ['a', 'b']],
  ['an open quote', '"abc'],
  ['a quote inside', 'a"b'],
  ['a quote inside quotes', '"a"b"'],
  ['a lonely backslash', String.raw`"a\b"`],
  ['one that is too long', 'k'.repeat(256)],
  ['one that is too long in quotes', `"${'k'.repeat(256)}"`],
  ['other characters than ASCII', 'schlüssel'],
  ['a control character', '"a\u0007b"'],
])('%s is refused', (_name, header) => {
  expect(() => keyOf(header)).toThrow(expect.objectContaining({ code: 'invalid_idempotency_key' }));
});
