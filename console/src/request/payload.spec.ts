import { boundedView, mediaOf, type Shown, shownFilesOf } from './payload';

const url = (text: string, type: string) => ({ url: `blob:${type}`, bytes: text.length });
const count = (shown: Shown): number =>
  shown.kind === 'list' ? 1 + shown.entries.reduce((sum, { value }) => sum + count(value), 0) : 1;

test('pictures, sounds and videos become media, everything else stays text', () => {
  const shown = boundedView(
    {
      image: { url: 'data:image/png;base64,AAAA' },
      drawing: 'data:image/svg+xml,<svg onload="alert(1)"/>',
      sounds: ['data:audio/wav;base64,BBBB'],
      page: 'data:text/html,<script>alert(1)</script>',
      link: 'https://example.org/a.png',
    },
    url,
  );
  expect(mediaOf(shown).map(({ type }) => type)).toEqual(['image/png', 'image/svg+xml', 'audio/wav']);
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

test('files of the service are links, and shown by the type beside them or the end of their names', () => {
  const at = 'https://queue.example.org/base/v1/files/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63';
  const shown = boundedView(
    {
      file: { url: `${at}/out`, content_type: 'image/webp', size: 3 },
      image: `${at}/cat.png`,
      page: { url: `${at}/a.png`, content_type: 'image/svg+xml' },
      other: `${at}/a.html`,
      foreign: 'https://example.org/v2/files/cat.png',
      long: `${at}/${'x'.repeat(3_000)}`,
    },
    url,
  );
  const path = 'v1/files/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63';
  expect(shownFilesOf(shown)).toMatchObject([
    { path: `${path}/out`, type: 'image/webp' },
    { path: `${path}/cat.png`, type: 'image/png' },
  ]);
  expect(shown).toMatchObject({
    entries: [
      {},
      {},
      {},
      { value: { kind: 'file', path: `${path}/a.html` } },
      { value: { kind: 'text' } },
      { value: { kind: 'text' } },
    ],
  });
});
