/** Returns whether a text nests brackets more than `maxDepth` levels deep. The text need not be JSON. */
export function isDeeperThan(text: string, maxDepth: number): boolean {
  if (text.length <= maxDepth) return false;
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
 * Returns whether a JSON text has more than `max` values. For other texts, it counts at most as many as JSON.parse
 * would read.
 */
export function hasMoreValues(text: string, max: number): boolean {
  if (text.length < 2 * max) return false;
  let count = 1;
  /** The last token was an opening bracket. */
  let isEmpty = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character <= 0x20) continue;
    // The token after an opening bracket is its first value, unless it closes the bracket.
    if (isEmpty && character !== 0x7d && character !== 0x5d) count++;
    isEmpty = character === 0x7b /* { */ || character === 0x5b; /* [ */
    if (character === 0x22 /* " */) at = endOfString(text, at);
    else if (character === 0x2c /* , */) count++;
    if (count > max) return true;
  }
  return false;
}

/**
 * Returns whether bytes are one JSON value with at most `maxDepth` levels. It builds no values, because parsing 32 MB
 * of empty objects takes gigabytes. The bytes must be valid UTF-8.
 */
export function isJson(bytes: Uint8Array, maxDepth: number): boolean {
  const end = bytes.length;
  /** 1 where the level is an object. */
  const levels = new Uint8Array(maxDepth + 1);
  let depth = 0;
  let at = space(bytes, 0);
  for (;;) {
    // A value, or the end of an empty array.
    const character = bytes[at];
    if (character === 0x7b || character === 0x5b) {
      if (++depth > maxDepth) return false;
      levels[depth] = character === 0x7b ? 1 : 0;
      at = space(bytes, at + 1);
      if (bytes[at] !== character + 2) {
        if (levels[depth] === 1 && (at = name(bytes, at)) === -1) return false;
        continue;
      }
      depth--;
      at++;
    } else {
      at = scalar(bytes, at);
      if (at === -1) return false;
    }
    for (;;) {
      at = space(bytes, at);
      if (depth === 0) return at === end;
      const isObject = levels[depth] === 1;
      const next = bytes[at++];
      if (next === 0x2c /* , */) {
        at = space(bytes, at);
        if (isObject && (at = name(bytes, at)) === -1) return false;
        break;
      }
      if (next !== (isObject ? 0x7d : 0x5d)) return false;
      depth--;
    }
  }
}

function space(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let one = bytes[at]; one === 0x20 || one === 0x0a || one === 0x0d || one === 0x09; one = bytes[at])
    at++;
  return at;
}

/** Returns where the value of the member begins whose name is at `start`. -1: there is none. */
function name(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== 0x22) return -1;
  const end = string(bytes, start);
  if (end === -1) return -1;
  const colon = space(bytes, end);
  return bytes[colon] === 0x3a /* : */ ? space(bytes, colon + 1) : -1;
}

/** Returns where a string, a number or a literal ends. -1: it is none of these. */
function scalar(bytes: Uint8Array, start: number): number {
  switch (bytes[start]) {
    case 0x22:
      return string(bytes, start);
    case 0x74:
      return word(bytes, start, 'true');
    case 0x66:
      return word(bytes, start, 'false');
    case 0x6e:
      return word(bytes, start, 'null');
    default:
      return number(bytes, start);
  }
}

function string(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const character = bytes[at]!;
    if (character === 0x22) return at + 1;
    if (character < 0x20) return -1;
    if (character !== 0x5c /* \\ */) continue;
    const escaped = bytes[++at];
    if (escaped !== 0x75 /* u */) {
      // The text may end here.
      if (escaped === undefined || !escapes.includes(escaped)) return -1;
      continue;
    }
    for (let digit = 0; digit < 4; digit++) if (!isHex(bytes[++at])) return -1;
  }
  return -1;
}

const escapes = Buffer.from('"\\/bfnrt');

const isDigit = (one: number | undefined): boolean => one !== undefined && one >= 0x30 && one <= 0x39;
const isHex = (one: number | undefined): boolean =>
  isDigit(one) || (one !== undefined && (one | 0x20) >= 0x61 && (one | 0x20) <= 0x66);

function word(bytes: Uint8Array, start: number, text: string): number {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return -1;
  return start + text.length;
}

function number(bytes: Uint8Array, start: number): number {
  let at = start;
  if (bytes[at] === 0x2d /* - */) at++;
  if (!isDigit(bytes[at])) return -1;
  at = bytes[at] === 0x30 ? at + 1 : digits(bytes, at);
  if (bytes[at] === 0x2e /* . */) {
    if (!isDigit(bytes[at + 1])) return -1;
    at = digits(bytes, at + 1);
  }
  if (bytes[at] !== 0x65 && bytes[at] !== 0x45 /* e, E */) return at;
  at++;
  if (bytes[at] === 0x2b || bytes[at] === 0x2d) at++;
  return isDigit(bytes[at]) ? digits(bytes, at) : -1;
}

function digits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isDigit(bytes[at])) at++;
  return at;
}

/**
 * Returns the text of a member of a JSON object, exactly as it was sent. Parsing and printing it would change numbers
 * above 2^53. If there are several, the last one counts, as in JSON.parse. `text` must be an object.
 */
export function rawMember(text: string, name: string): string | undefined {
  return rawMembers(text, (one) => one === name).get(name);
}

/** Returns the texts of the members of a JSON object that are asked for, by name, like `rawMember`. */
export function rawMembers(
  text: string,
  isAsked: (name: string) => boolean = () => true,
): Map<string, string> {
  let depth = 0;
  let start = 0;
  let key: string | undefined;
  const found = new Map<string, string>();
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === 0x22 /* " */) {
      const end = endOfString(text, at);
      if (depth === 1) key ??= JSON.parse(text.slice(at, end + 1)) as string;
      at = end;
    } else if (character === 0x7b || character === 0x5b) depth++;
    else if (depth === 1 && character === 0x3a /* : */) start = at + 1;
    else if (depth === 1 && (character === 0x2c /* , */ || character === 0x7d) /* } */) {
      if (key !== undefined && isAsked(key)) found.set(key, text.slice(start, at).trim());
      key = undefined;
      if (character === 0x7d) depth--;
    } else if (character === 0x7d || character === 0x5d) depth--;
  }
  return found;
}

/** Returns the JSON text of an object. `members`: the texts of its members, by name. */
export function objectOf(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

/** Returns the texts of the elements of a JSON array, like `rawMember` for a member. `text` must be an array. */
export function rawElements(text: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === 0x22 /* " */) at = endOfString(text, at);
    else if (character === 0x7b || character === 0x5b) {
      if (depth++ === 0) start = at + 1;
    } else if (depth === 1 && (character === 0x2c /* , */ || character === 0x5d) /* ] */) {
      elements.push(text.slice(start, at).trim());
      start = at + 1;
      if (character === 0x5d) depth--;
    } else if (character === 0x7d || character === 0x5d) depth--;
  }
  return elements.length === 1 && elements[0] === '' ? [] : elements;
}

/** Returns the closing quote: the first one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
