/** What of a payload is shown: bounded, so that 30 MB freeze no tab. */
export type Shown =
  | { kind: 'text'; text: string; rest: number }
  | { kind: 'media'; url: string; bytes: number; type: string }
  | { kind: 'scalar'; text: string }
  | { kind: 'list'; isArray: boolean; entries: { name: string; value: Shown }[]; rest: number };

const maxText = 4_000;
const maxEntries = 100;
const maxDepth = 12;
const maxNodes = 2_000;

/** Kinds that a browser shows without running anything of theirs; SVG only as an image, where scripts are off. */
const dataUrl = /^data:((?:image|audio|video)\/[\w.+-]{1,60})((?:;[\w=.+-]{1,80})*),/i;

/** `toUrl`: makes an address of the content of a data URL, and says how long it is. */
export function boundedView(
  value: unknown,
  toUrl: (text: string, type: string) => { url: string; bytes: number } | undefined,
): Shown {
  let nodes = 0;
  const look = (part: unknown, depth: number): Shown => {
    nodes += 1;
    if (typeof part === 'string') {
      const type = dataUrl.exec(part.slice(0, 300))?.[1]?.toLowerCase();
      const media = type === undefined ? undefined : toUrl(part, type);
      if (media !== undefined) return { kind: 'media', type: type!, ...media };
      return { kind: 'text', text: part.slice(0, maxText), rest: Math.max(0, part.length - maxText) };
    }
    if (typeof part !== 'object' || part === null) return { kind: 'scalar', text: String(part) };
    const isArray = Array.isArray(part);
    const names = Object.keys(part);
    const room = depth >= maxDepth ? 0 : Math.max(0, Math.min(maxEntries, maxNodes - nodes));
    const entries = names.slice(0, room).map((name) => {
      return { name, value: look((part as Record<string, unknown>)[name], depth + 1) };
    });
    return { kind: 'list', isArray, entries, rest: names.length - entries.length };
  };
  return look(value, 0);
}

/** The pictures, sounds and videos in it, in their order. */
export function mediaOf(shown: Shown): Extract<Shown, { kind: 'media' }>[] {
  if (shown.kind === 'media') return [shown];
  return shown.kind === 'list' ? shown.entries.flatMap(({ value }) => mediaOf(value)) : [];
}
