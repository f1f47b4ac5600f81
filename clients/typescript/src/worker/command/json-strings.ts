import { stringsOf } from '../json-scanner.js';

/**
 * Returns a JSON text with other strings in place of those for which `replace` gives one. Everything else stays as it was
 * written.
 */
export async function withStrings(
  json: string,
  replace: (text: string) => Promise<string | undefined>,
): Promise<string> {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end } of stringsOf(json)) {
    const other = await replace(JSON.parse(json.slice(start, end)) as string);
    if (other === undefined) continue;
    pieces.push(json.slice(from, start), JSON.stringify(other));
    from = end;
  }
  return pieces.join('') + json.slice(from);
}
