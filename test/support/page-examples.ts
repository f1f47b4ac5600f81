import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Example {
  name: string;
  commands: string;
  /** The output that the page shows below them. undefined: none. */
  shown: string | undefined;
}

export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8');

/**
 * Returns the blocks marked `sh` and this word, in the order of the page, each with the block that directly follows it.
 */
export function examplesOf(page: string, mark = 'run'): Example[] {
  const pattern = new RegExp(`^\`\`\`sh ${mark}\n(.*?)^\`\`\`\n(?:\n\`\`\`(?:json)?\n(.*?)^\`\`\`$)?`, 'gms');
  return [...readPage(page).matchAll(pattern)].map(([, commands, shown], index) => ({
    name: `${page}, ${index + 1}: ${commands!.split('\n')[0]!.slice(0, 80)}`,
    commands: commands!,
    shown,
  }));
}

/**
 * Returns a matcher for a page's output. A page may omit fields. Ids, times, measured numbers and the text of an
 * ellipsis differ each time.
 */
export function alike(shown: unknown, serviceUrl: string): unknown {
  const inner = (value: unknown): unknown => alike(value, serviceUrl);
  if (typeof shown === 'string')
    return expect.stringMatching(new RegExp(`^${patternOf(shown, serviceUrl)}$`));
  if (typeof shown === 'number' && !Number.isInteger(shown)) return expect.any(Number);
  if (Array.isArray(shown)) return shown.map(inner);
  if (typeof shown !== 'object' || shown === null) return shown;
  const fields = Object.entries(shown).map(([name, value]): [string, unknown] => [name, inner(value)]);
  return expect.objectContaining(Object.fromEntries(fields));
}

function patternOf(text: string, serviceUrl: string): string {
  return text
    .replaceAll('http://127.0.0.1:3000', serviceUrl)
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '[0-9a-f-]{36}')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\\\.\d{3}Z/g, String.raw`\d{4}-\d\d-\d\dT[\d:.]{12}Z`)
    .replaceAll('…', '[^]*');
}
