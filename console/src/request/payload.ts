/** The parts of a payload that are shown, bounded so that 30 MB do not freeze a tab. */
export type Shown =
  | { kind: 'text'; text: string; rest: number }
  | { kind: 'media'; url: string; bytes: number; type: string }
  /** A file of the service. `path` is its path in the API, without a leading slash. */
  | { kind: 'file'; path: string; text: string; type: string }
  | { kind: 'scalar'; text: string }
  | { kind: 'list'; isArray: boolean; entries: { name: string; value: Shown }[]; rest: number };

const maxText = 4_000;
const maxEntries = 100;
const maxDepth = 12;
const maxNodes = 2_000;

/**
 * Types that a browser shows without running their content. SVG is only shown as an image, where scripts are disabled.
 */
const dataUrl = /^data:((?:image|audio|video)\/[\w.+-]{1,60})((?:;[\w=.+-]{1,80})*),/i;

const fileUrl = /\/(v1\/files\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[^/?#\s]{1,900})$/;
const types: Record<string, string> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' },
  ...{ avif: 'image/avif', mp3: 'audio/mpeg', wav: 'audio/wav', mp4: 'video/mp4', webm: 'video/webm' },
};

/** The type comes from the `content_type` beside the URL, or else from the file extension. */
function fileOf(text: string, beside: unknown): Extract<Shown, { kind: 'file' }> | undefined {
  const path = text.length > 2_000 ? undefined : fileUrl.exec(text)?.[1];
  if (path === undefined) return undefined;
  const type = typeof beside === 'string' ? beside : types[/[^.]*$/.exec(path)![0].toLowerCase()];
  return { kind: 'file', path, text, type: type ?? 'application/octet-stream' };
}

/** `toUrl` turns the content of a data URL into an address and returns its size. */
export function boundedView(
  value: unknown,
  toUrl: (text: string, type: string) => { url: string; bytes: number } | undefined,
): Shown {
  let nodes = 0;
  const look = (part: unknown, depth: number, beside?: unknown): Shown => {
    nodes += 1;
    if (typeof part === 'string') {
      const type = dataUrl.exec(part.slice(0, 300))?.[1]?.toLowerCase();
      const media = type === undefined ? undefined : toUrl(part, type);
      if (media !== undefined) return { kind: 'media', type: type!, ...media };
      const file = fileOf(part, beside);
      if (file !== undefined) return file;
      return { kind: 'text', text: part.slice(0, maxText), rest: Math.max(0, part.length - maxText) };
    }
    if (typeof part !== 'object' || part === null) return { kind: 'scalar', text: String(part) };
    const isArray = Array.isArray(part);
    const names = Object.keys(part);
    const room = depth >= maxDepth ? 0 : Math.max(0, Math.min(maxEntries, maxNodes - nodes));
    const { content_type: type } = part as { content_type?: unknown };
    const entries = names.slice(0, room).map((name) => {
      return { name, value: look((part as Record<string, unknown>)[name], depth + 1, type) };
    });
    return { kind: 'list', isArray, entries, rest: names.length - entries.length };
  };
  return look(value, 0);
}

type Media = Extract<Shown, { kind: 'media' }>;
type File = Extract<Shown, { kind: 'file' }>;

/** Returns the images, sounds and videos, in order. */
export function mediaOf(shown: Shown): Media[] {
  return leavesOf(shown).filter((leaf) => leaf.kind === 'media');
}

/** Returns the files that a page can show, in order. */
export function shownFilesOf(shown: Shown): File[] {
  return leavesOf(shown)
    .filter((leaf) => leaf.kind === 'file')
    .filter(({ type }) => /^(image|audio|video)\/(?!.*(svg|xml))/.test(type));
}

function leavesOf(shown: Shown): Shown[] {
  return shown.kind === 'list' ? shown.entries.flatMap(({ value }) => leavesOf(value)) : [shown];
}
