import { isDeeperThan } from './json-scanner.js';

// PostgreSQL's text holds neither NUL nor half of a surrogate pair. A `json` column accepts their escapes, but every
// statement that reads a member of such a value fails, and `jsonb` refuses them. Calls whose texts contain them are
// refused. Texts from models, workers and receivers are stored with U+FFFD in their place.

/** PostgreSQL's JSON parser recurses and fails at a few thousand levels. This is far more than a model needs. */
export const maxModelDepth = 1_000;
const replacement = '\ufffd';
const escapedReplacement = '\\ufffd';
/**
 * A cheap test that most texts fail. A match can still be harmless: after an escaped backslash, or as one half of a
 * complete pair.
 */
const suspicious = /\\u(?:0000|[dD][89a-fA-F])/;

/** Parses a text as JSON. undefined: it is not JSON, or too deeply nested to be stored. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isDeeperThan(text, maxModelDepth) ? undefined : { value };
  } catch {
    return undefined;
  }
}

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

export function storable(text: string): string {
  return text.replaceAll('\0', replacement).toWellFormed();
}

/** Returns a storable text of at most `maxLength` characters, plus an ellipsis if it was cut. */
export function cleanText(text: string, maxLength: number): string {
  return storable(text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`);
}

/**
 * Returns a JSON text with storable strings and names. Everything else stays as written, and the length stays the same.
 * If two names of an object become the same, the last one counts, as everywhere in JSON.
 */
export function storableJson(json: string): string {
  let at = badEscapeAt(json);
  if (at === -1) return json;
  let clean = '';
  let from = 0;
  for (; at !== -1; at = badEscapeAt(json, from)) {
    clean += json.slice(from, at) + escapedReplacement;
    from = at + escapedReplacement.length;
  }
  return clean + json.slice(from);
}

/** The same for JSON in UTF-8. */
export function storableJsonBytes(json: Buffer): Buffer {
  if (!json.includes('\\u')) return json;
  const text = json.toString();
  const clean = storableJson(text);
  return clean === text ? json : Buffer.from(clean);
}

/**
 * Returns the position of the first escape of NUL or of half a pair in a JSON text. `from` must be the end of another
 * escape. -1: there is none.
 */
export function badEscapeAt(json: string, from = 0): number {
  if (from === 0 && !(json.includes('\\u') && suspicious.test(json))) return -1;
  for (let at = json.indexOf('\\', from); at !== -1; at = json.indexOf('\\', at)) {
    if (json[at + 1] !== 'u') {
      at += 2;
      continue;
    }
    const unit = codeUnitAt(json, at);
    if (unit === 0) return at;
    if (isHigh(unit) && isLow(codeUnitAt(json, at + 6))) at += 12;
    else if (isHigh(unit) || isLow(unit)) return at;
    else at += 6;
  }
  return -1;
}

/** Returns the code unit of an escape such as `\u00e9` at a position of a JSON text. NaN: there is none. */
export function codeUnitAt(json: string, at: number): number {
  return json.startsWith('\\u', at) ? Number.parseInt(json.slice(at + 2, at + 6), 16) : NaN;
}

export const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
