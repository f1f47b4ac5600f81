import { dispositionOf, fileNameOf, isContentType, nameForType } from './file-name.js';

test.each([
  ['image/png', true],
  ['text/plain; charset=utf-8', true],
  ['multipart/form-data;boundary="a b;c"', true],
  ['a/b;c=', false],
  ['png', false],
  ['image/', false],
  ['image/png, text/html', false],
  ['image/png\n', false],
  ['image/pñg', false],
  [`a/b${';c=d'.repeat(100)}`, false],
])('%j is a content type: %s', (text, is) => {
  expect(isContentType(text)).toBe(is);
});

test('a long name is cut to 200 characters and retains a short extension', () => {
  expect(fileNameOf(`${'🐈'.repeat(300)}.tar`)).toBe(`${'🐈'.repeat(196)}.tar`);
  expect(fileNameOf(`a.${'x'.repeat(300)}`)).toHaveLength(200);
});

test('an output file is named after its content type', () => {
  const types = ['image/jpeg', 'image/png; a=b', 'audio/x-wav', 'application/octet-stream', 'image/svg+xml'];
  expect(types.map(nameForType)).toEqual(['jpg', 'png', 'wav', 'bin', 'svg'].map((end) => `output.${end}`));
});

test('a non-ASCII name is sent twice, in ASCII and in UTF-8', () => {
  expect(dispositionOf('image/png', `é"'.png`)).toBe(
    `inline; filename="__'.png"; filename*=UTF-8''%C3%A9%22%27.png`,
  );
});
