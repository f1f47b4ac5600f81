/** PostgreSQL's JSON parser recurses and gives up at a few thousand levels; far above what a model means. */
const maxDepth = 1_000;

/** A text as a JSON value; undefined: it is not JSON, or nested too deeply to be stored. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(text) ? { value } : undefined;
  } catch {
    return undefined;
  }
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
  for (const { index, token } of tokens(text)) {
    if (depth === 1 && (token === ',' || token === '}')) {
      if (key === name) found = text.slice(start, index).trim();
      key = undefined;
    } else if (depth === 1 && key === undefined && token.startsWith('"')) {
      key = JSON.parse(token) as string;
    } else if (depth === 1 && token === ':') {
      start = index + 1;
    }
    depth += levels[token] ?? 0;
  }
  return found;
}

const levels: Record<string, number> = { '{': 1, '[': 1, '}': -1, ']': -1 };

function isShallow(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === 0x22) index = endOfString(text, index);
    else if (character === 0x7b || character === 0x5b) depth += 1;
    else if (character === 0x7d || character === 0x5d) depth -= 1;
    if (depth > maxDepth) return false;
  }
  return true;
}

/** The strings and the punctuation of a valid JSON text; numbers and words are passed over. */
function* tokens(text: string): Generator<{ index: number; token: string }> {
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]!;
    if (character === '"') {
      const start = index;
      index = endOfString(text, start);
      yield { index: start, token: text.slice(start, index + 1) };
    } else if ('{}[],:'.includes(character)) {
      yield { index, token: character };
    }
  }
}

/** The closing quote: the first one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  for (;;) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
}
