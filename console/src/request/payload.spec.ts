import { parseExactly } from './exact-json';
import { boundedView, elementFor, filesOf, isInert, mediaOf, type Shown } from './payload';

const url = (text: string, type: string) => ({ url: `blob:${type}`, bytes: text.length });
const count = (shown: Shown): number =>
  shown.kind === 'list' ? 1 + shown.entries.reduce((sum, { value }) => sum + count(value), 0) : 1;

test('pictures, sounds, videos and files in base64 become media, everything else stays text', () => {
  const shown = boundedView(
    {
      image: { url: 'data:image/png;base64,AAAA' },
      drawing: 'data:image/svg+xml,<svg onload="alert(1)"/>',
      sounds: ['data:audio/wav;base64,BBBB'],
      page: 'data:text/html,<script>alert(1)</script>',
      words: 'data:text/plain;charset=utf-8;base64,AAAA',
      drawn: 'data:application/json,{}',
      shape: 'data:model/gltf-binary;base64,AAAA',
      link: 'https://example.org/a.png',
    },
    url,
  );
  expect(mediaOf(shown).map(({ type }) => [type, elementFor(type)])).toEqual([
    ['image/png', 'img'],
    ['image/svg+xml', 'img'],
    ['audio/wav', 'audio'],
    ['model/gltf-binary', undefined],
  ]);
});

test('what is long, wide or deep is bounded, and says how much is left', () => {
  expect(boundedView('x'.repeat(10_000), url)).toEqual({
    kind: 'text',
    text: 'x'.repeat(4_000),
    rest: 6_000,
  });
  const wide = boundedView(
    Array.from({ length: 100_000 }, (_, i) => i),
    url,
  ) as Extract<Shown, { kind: 'list' }>;
  expect([wide.entries.length, wide.rest]).toEqual([100, 99_900]);
  let deep: unknown = 1;
  for (let i = 0; i < 10_000; i++) deep = [deep];
  expect(count(boundedView(deep, url))).toBeLessThan(20);
  const bushy = (depth: number): unknown =>
    depth === 0 ? 1 : Array.from({ length: 90 }, () => bushy(depth - 1));
  expect(count(boundedView(bushy(3), url))).toBeLessThan(10_000);
});

test('names that mean something to JavaScript are names', () => {
  const shown = boundedView(JSON.parse('{"__proto__": {"a": 1}, "constructor": null}'), url);
  expect(shown).toMatchObject({ entries: [{ name: '__proto__' }, { name: 'constructor' }] });
});

test('files of the service are known by their URLs, with the type and size that stand beside them', () => {
  const at = 'https://queue.example.org/base/v1/files/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63';
  const shown = boundedView(
    {
      file: { url: `${at}/out`, content_type: 'image/webp', size: 3 },
      image: `${at}/cat.png`,
      foreign: 'https://example.org/v2/files/cat.png',
      long: `${at}/${'x'.repeat(3_000)}`,
    },
    url,
  );
  const path = 'v1/files/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63';
  expect(filesOf(shown)).toEqual([
    { kind: 'file', path: `${path}/out`, text: `${at}/out`, type: 'image/webp', bytes: 3 },
    { kind: 'file', path: `${path}/cat.png`, text: `${at}/cat.png`, type: undefined, bytes: undefined },
  ]);
  expect(shown).toMatchObject({
    entries: [{}, {}, { value: { kind: 'text' } }, { value: { kind: 'text' } }],
  });
});

test.each([
  ['image/png', 'img', true],
  ['image/svg+xml', 'img', false],
  ['image/x.drawing+XML', 'img', false],
  ['audio/ogg; codecs=opus', 'audio', true],
  ['video/mp4', 'video', true],
  ['model/gltf-binary', undefined, false],
  ['application/pdf', undefined, false],
  ['text/html', undefined, false],
  ['constructor/x', undefined, false],
])('%s is shown by %s, and it is %s that its page runs nothing', (type, element, inert) => {
  expect([elementFor(type), isInert(type)]).toEqual([element, inert]);
});

test('numbers that JavaScript would change are shown as they were written', () => {
  const json = `{"seed": 12345678901234567890, "text": "12345678901234567890", "long": 1${'0'.repeat(9_000)}}`;
  const shown = boundedView(parseExactly(json, JSON.parse(json)), url);
  expect(shown).toMatchObject({
    entries: [
      { value: { kind: 'scalar', text: '12345678901234567890' } },
      { value: { kind: 'text', text: '12345678901234567890' } },
      { value: { kind: 'scalar', text: `1${'0'.repeat(3_999)}…` } },
    ],
  });
});
