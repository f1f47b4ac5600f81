/** A member of an object, or an element of an array (which has no name). */
export interface RawPart {
  name: string | undefined;
  /** The text exactly as it was sent. */
  text: string;
}

/** Returns the members of a JSON object or the elements of an array, as text. `json` must be an object or an array. */
export function partsOf(json: string): RawPart[] {
  const parts: RawPart[] = [];
  let depth = 0;
  let start = 0;
  let name: string | undefined;
  for (let at = 0; at < json.length; at++) {
    const character = json[at]!;
    if (character === '"') at = endOfString(json, at);
    else if (character === ':' && depth === 1) {
      name = JSON.parse(json.slice(start, at)) as string;
      start = at + 1;
    } else if ((character === '{' || character === '[') && depth++ === 0) start = at + 1;
    else if (depth === 1 && (character === ',' || character === '}' || character === ']')) {
      parts.push({ name, text: json.slice(start, at).trim() });
      name = undefined;
      start = at + 1;
    }
    if (character === '}' || character === ']') depth--;
  }
  return parts.filter(({ text }) => text !== '');
}

/** Returns the text of a member. If there are several, returns the last, like JSON.parse. */
export const memberOf = (json: string, name: string): string | undefined =>
  partsOf(json)
    .filter((part) => part.name === name)
    .at(-1)?.text;

/** Yields the positions of the strings in a JSON text, quotes included, except the names of members. */
export function* stringsOf(json: string): Generator<{ start: number; end: number }, void, undefined> {
  const colon = /\s*:/y;
  for (let start = json.indexOf('"'); start !== -1;) {
    const end = endOfString(json, start) + 1;
    colon.lastIndex = end;
    if (!colon.test(json)) yield { start, end };
    start = json.indexOf('"', end);
  }
}

/** Returns the closing quote: the first one with an even number of backslashes before it. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return json.length;
}
