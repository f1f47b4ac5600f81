import { isObject } from './assemblers.js';
import { nodesAt, type Path } from './paths.js';

/** Puts the URLs of stored files in the places of what stood there. `store`: undefined: it is no file. */
export async function placeFiles(
  output: unknown,
  path: Path,
  store: (value: unknown) => Promise<string | undefined>,
): Promise<void> {
  for (const { value, location } of nodesAt(path, output)) {
    const url = await store(value);
    if (url !== undefined) place(output, location, url);
  }
}

/**
 * Sets the value at a location. An object gets the URL as its member `url`. A member `b64_json` is renamed to `url`, as
 * OpenAI's API names it.
 */
function place(root: unknown, location: readonly (string | number)[], url: string): void {
  const name = location.at(-1);
  let parent = root as Record<string | number, unknown>;
  for (const step of location.slice(0, -1)) parent = parent[step] as typeof parent;
  if (name === undefined) return;
  if (isObject(parent[name])) {
    parent[name].url = url;
    return;
  }
  if (name === 'b64_json') delete parent[name];
  parent[name === 'b64_json' ? 'url' : name] = url;
}
