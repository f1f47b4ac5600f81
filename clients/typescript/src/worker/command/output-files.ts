import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';
import { Fail } from '../failures.js';
import { withStrings } from './json-strings.js';

const scheme = 'file:';

/** Returns an output, as JSON text, in which each string such as `file:x.png` is replaced by the URL of that file. */
export async function withUploads(
  output: string,
  folder: string,
  upload: (name: string, path: string) => Promise<string>,
): Promise<string> {
  const urls = new Map<string, string>();
  return withStrings(output, async (text) => {
    if (!isFileName(text)) return undefined;
    const name = text.slice(scheme.length);
    const path = await fileIn(folder, name);
    if (!urls.has(path)) urls.set(path, await upload(basename(name), path));
    return urls.get(path);
  });
}

/** `file://…` is a URL and stays as it is. */
const isFileName = (text: string): boolean => text.startsWith(scheme) && !text.startsWith('file://');

/** Returns the path of a regular file inside a folder, with links resolved. */
export async function fileIn(folder: string, name: string): Promise<string> {
  const refused = (why: string): Fail =>
    new Fail(`The output names the file "${name.slice(0, 200)}", ${why}.`);
  if (name === '' || name.includes('\0') || isAbsolute(name))
    throw refused('which is not a path in NS_OUTPUT_DIR');
  const within = (path: string): boolean => {
    const way = relative(folder, path);
    return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  };
  const path = resolve(folder, name);
  if (!within(path)) throw refused('which is outside of NS_OUTPUT_DIR');
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) throw refused('which does not exist');
  if (!within(real)) throw refused('which leads out of NS_OUTPUT_DIR');
  if (!(await stat(real)).isFile()) throw refused('which is not a regular file');
  return real;
}
