import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Run } from '../types.js';
import { withStrings } from './json-strings.js';

/** The URL of a file of the service, under whatever address its callers know it, or only its path. */
const fileUrl = /^(?:https?:\/\/[^/?#]+)?\/v1\/files\/[^/?#]+\/([^/?#]+)(?:\?[^#]*)?$/;
const maxNameLength = 100;

/** Downloads the files of the service that an input names, and returns the input, as JSON text, with their paths. */
export async function withLocalFiles(
  input: string,
  folder: string,
  run: Pick<Run, 'download'>,
): Promise<string> {
  const paths = new Map<string, string>();
  return withStrings(input, async (url) => {
    const name = fileUrl.exec(url)?.[1];
    if (name === undefined) return undefined;
    if (!paths.has(url)) {
      // Two files may have the same name.
      const own = join(folder, String(paths.size + 1));
      await mkdir(own);
      paths.set(url, await run.download(url, { to: join(own, localName(name)) }));
    }
    return paths.get(url);
  });
}

/** Returns a name that stays in its folder. The end of a long one is kept, because it tells the type. */
function localName(name: string): string {
  const known = readable(name)
    .replaceAll(/[/\\\p{Cc}]/gu, '_')
    .slice(-maxNameLength);
  return /^\.*$/.test(known) ? 'file' : known;
}

function readable(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
