/** Whether a text opens more brackets than `maxDepth` at a place. The text need not be JSON. */
export function isDeeperThan(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === 0x22 /* " */) at = endOfString(text, at);
    else if (character === 0x7b /* { */ || character === 0x5b /* [ */) depth++;
    else if (character === 0x7d /* } */ || character === 0x5d /* ] */) depth--;
    if (depth > maxDepth) return true;
  }
  return false;
}

/**
 * The text of a member of a JSON object, exactly as it was sent: parsing and printing it again would change
 * numbers above 2^53. The last of several wins, as in JSON.parse. `text` is known to be an object.
 */
export function rawMember(text: string, name: string): string | undefined {
  let depth = 0;
  let start = 0;
  let key: string | undefined;
  let found: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') {
      const end = endOfString(text, at);
      if (depth === 1) key ??= JSON.parse(text.slice(at, end + 1)) as string;
      at = end;
    } else if (depth === 1 && character === ':') {
      start = at + 1;
    } else if (depth === 1 && (character === ',' || character === '}')) {
      if (key === name) found = text.slice(start, at).trim();
      key = undefined;
    }
    depth += levels[character] ?? 0;
  }
  return found;
}

/** The texts of the elements of a JSON array, as `rawMember` gives that of a member. `text` is known to be an array. */
export function rawElements(text: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') at = endOfString(text, at);
    else if (character === '[' && depth === 0) start = at + 1;
    else if (depth === 1 && (character === ',' || character === ']')) {
      elements.push(text.slice(start, at).trim());
      start = at + 1;
    }
    depth += levels[character] ?? 0;
  }
  return elements.length === 1 && elements[0] === '' ? [] : elements;
}

const levels: Record<string, number> = { '{': 1, '[': 1, '}': -1, ']': -1 };

/** The closing quote: the first one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
