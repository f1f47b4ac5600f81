import { numberIn } from './exact-json';

/** The parts of a payload that are shown, bounded so that 30 MB do not freeze a tab. */
export type Shown =
  | { kind: 'text'; text: string; rest: number }
  /** A file that a data URL contains. */
  | ({ kind: 'media'; type: string } & Embedded)
  /**
   * A file of the service. `path` is its path in the API, without a leading slash. Type and size are those that the
   * payload states, if it does.
   */
  | { kind: 'file'; path: string; text: string; type: string | undefined; bytes: number | undefined }
  | { kind: 'scalar'; text: string }
  | { kind: 'list'; isArray: boolean; entries: { name: string; value: Shown }[]; rest: number };

/** Where the content of a data URL is. */
interface Embedded {
  /** The address for a download. It runs nothing if it is opened as a page. */
  url: string;
  /** The address for an element that shows the file. undefined: `url`. */
  source?: string;
  bytes: number;
}

const maxText = 4_000;
const maxEntries = 100;
const maxDepth = 12;
const maxNodes = 2_000;

const dataUrl = /^data:(\w{1,40}\/[\w.+-]{1,80})(?:;[\w=.+-]{1,80})*?(;base64)?,/i;

const fileUrl = /\/(v1\/files\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[^/?#\s]{1,900})$/;

/** Returns the type of the file in a data URL. undefined: it is no file, but a text. */
function embeddedType(text: string): string | undefined {
  const [, given, base64] = dataUrl.exec(text.slice(0, 300)) ?? [];
  const type = given?.toLowerCase();
  if (type === undefined || elementFor(type) !== undefined) return type;
  return base64 === undefined || type.startsWith('text/') ? undefined : type;
}

/** The members beside a file's URL. */
interface Beside {
  content_type?: unknown;
  size?: unknown;
}

function fileOf(text: string, { content_type: type, size }: Beside): ShownFile | undefined {
  const path = text.length > 2_000 ? undefined : fileUrl.exec(text)?.[1];
  if (path === undefined) return undefined;
  return {
    kind: 'file',
    path,
    text,
    type: typeof type === 'string' ? type : undefined,
    bytes: typeof size === 'number' ? size : undefined,
  };
}

/** A number may have a million digits. */
const shortened = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)}…` : text);

/** `toUrl` turns the content of a data URL into an address. */
export function boundedView(
  value: unknown,
  toUrl: (text: string, type: string) => Embedded | undefined,
): Shown {
  let nodes = 0;
  const look = (part: unknown, depth: number, beside: Beside = {}): Shown => {
    nodes += 1;
    if (typeof part === 'string') {
      const number = numberIn(part);
      if (number !== undefined) return { kind: 'scalar', text: shortened(number) };
      const type = embeddedType(part);
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
    const entries = names.slice(0, room).map((name) => {
      return { name, value: look((part as Record<string, unknown>)[name], depth + 1, part) };
    });
    return { kind: 'list', isArray, entries, rest: names.length - entries.length };
  };
  return look(value, 0);
}

type Media = Extract<Shown, { kind: 'media' }>;
export type ShownFile = Extract<Shown, { kind: 'file' }>;

/** Returns the files in data URLs, in order. */
export function mediaOf(shown: Shown): Media[] {
  return leavesOf(shown).filter((leaf) => leaf.kind === 'media');
}

/** Returns the files of the service, in order. */
export function filesOf(shown: Shown): ShownFile[] {
  return leavesOf(shown).filter((leaf) => leaf.kind === 'file');
}

const elements = { image: 'img', audio: 'audio', video: 'video' } as const;

/**
 * Returns the element that shows a type without running its content: as an image, SVG runs no scripts. undefined: a
 * file of this type is only downloaded.
 */
export function elementFor(type: string): 'img' | 'audio' | 'video' | undefined {
  const kind = type.split('/', 1)[0]!.toLowerCase();
  return Object.hasOwn(elements, kind) ? elements[kind as keyof typeof elements] : undefined;
}

/** True if a browser that opens a file of this type as a page runs nothing in it. SVG and XML may hold scripts. */
export const isInert = (type: string): boolean => elementFor(type) !== undefined && !/svg|xml/i.test(type);

function leavesOf(shown: Shown): Shown[] {
  return shown.kind === 'list' ? shown.entries.flatMap(({ value }) => leavesOf(value)) : [shown];
}
