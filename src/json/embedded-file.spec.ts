import { runInNewContext } from 'node:vm';
import { fileBytes } from './embedded-file.js';

it.each([
  ['a data URL', 'data:text/plain;base64,aGVsbG8=', 'text/plain', 'hello'],
  ['a data URL without base64', 'data:,a%20b', 'text/plain', 'a b'],
  [
    'base64 with line breaks at its end',
    `${'YWJj'.repeat(20)}\r\n \n`,
    'application/octet-stream',
    'abc'.repeat(20),
  ],
  ['base64 of a PNG', `iVBORw0KGgo${'A'.repeat(60)}=`, 'image/png', undefined],
])('%s embeds a file', (_, text, contentType, content) => {
  const file = fileBytes(text)!;
  expect(file.contentType).toBe(contentType);
  if (content !== undefined) expect(file.bytes.toString()).toBe(content);
});

it.each([
  ['a short text', 'YWJj'],
  ['a sentence', 'It is no base64, because it has spaces and a full stop at its end. It is long enough.'],
  // A search whose time grew with the square of the length would take a minute.
  ['a text of line breaks', `A${'\n'.repeat(300_000)}!`],
])('%s embeds none', (_, text) => {
  // The context ends a search that takes too long.
  const found: unknown = runInNewContext('fileBytes(text)', { fileBytes, text }, { timeout: 10_000 });
  expect(found).toBeUndefined();
});
