import { isModelId } from './model.js';

describe('isModelId', () => {
  it.each(['a', 'acme/image/upscale', 'A0._-/b', 'a/b/c/d/e/f/g/h', 'a'.repeat(64), 'models/requests'])(
    'takes %s',
    (text) => expect(isModelId(text)).toBe(true),
  );

  it.each([
    ['nothing', ''],
    ['an empty segment', 'a//b'],
    ['a slash at the end', 'a/'],
    ['a slash at the start', '/a'],
    ['nine segments', 'a/b/c/d/e/f/g/h/i'],
    ['a segment of 65 characters', 'a'.repeat(65)],
    ['more than 256 characters', Array(5).fill('a'.repeat(60)).join('/')],
    ['requests in front', 'requests/a'],
    ['requests alone', 'requests'],
    ['openapi.json at the end', 'a/openapi.json'],
    ['openapi.json alone, in other letters', 'OpenAPI.json'],
    ['a dot in front', '.a'],
    ['a way up', 'a/..'],
    ['a percent sign', 'a%2Fb'],
    ['a space', 'a b'],
    ['a letter that is not ASCII', 'ä'],
    ['a line feed at the end', 'a\n'],
  ])('refuses %s', (_, text) => expect(isModelId(text)).toBe(false));
});
