import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';
import { Fail } from '../failures.js';

const scheme = 'file:';

/** An output in which each text such as `file:x.png` has become the URL of that file. */
export async function withUploads(
  output: unknown,
  folder: string,
  upload: (name: string, path: string) => Promise<string>,
): Promise<unknown> {
  const urls = new Map<string, Promise<string>>();
  const uploaded = async (name: string): Promise<string> => {
    const path = await fileIn(folder, name);
    if (!urls.has(path)) urls.set(path, upload(basename(name), path));
    return urls.get(path)!;
  };
  const replaced = async (value: unknown): Promise<unknown> => {
    if (typeof value === 'string') return isFileName(value) ? uploaded(value.slice(scheme.length)) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(await replaced(item));
      return items;
    }
    const entries: [string, unknown][] = [];
    for (const [name, item] of Object.entries(value)) entries.push([name, await replaced(item)]);
    return Object.fromEntries(entries);
  };
  return replaced(output);
}

/** `file://…` is a URL, and left as it is. */
const isFileName = (text: string): boolean => text.startsWith(scheme) && !text.startsWith('file://');

/** The path of a plain file that lies in a folder, links resolved. */
export async function fileIn(folder: string, name: string): Promise<string> {
  const refused = (why: string): Fail =>
    new Fail(`The output names the file "${name.slice(0, 200)}", ${why}.`);
  if (name === '' || name.includes('\0') || isAbsolute(name))
    throw refused('which is no path in NS_OUTPUT_DIR');
  const within = (path: string): boolean => {
    const way = relative(folder, path);
    return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  };
  const path = resolve(folder, name);
  if (!within(path)) throw refused('which is outside of NS_OUTPUT_DIR');
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) throw refused('which is not there');
  if (!within(real)) throw refused('which leads out of NS_OUTPUT_DIR');
  if (!(await stat(real)).isFile()) throw refused('which is no plain file');
  return real;
}
