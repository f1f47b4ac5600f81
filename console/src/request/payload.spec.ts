import { boundedView, mediaOf, type Shown } from './payload';

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
