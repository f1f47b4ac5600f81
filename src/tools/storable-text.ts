import { isDeeperThan } from './json-scanner.js';

// PostgreSQL's text holds neither NUL nor half of a surrogate pair. A `json` column takes their escapes, but every
// statement that reads a member of such a value fails, and `jsonb` refuses them. What callers send with one is refused;
// what models, workers and receivers say is stored with U+FFFD in its place.

/** PostgreSQL's JSON parser recurses and gives up at a few thousand levels; far above what a model means. */
export const maxModelDepth = 1_000;
const replacement = '\ufffd';
const escapedReplacement = '\\ufffd';
/** All that most texts pay. An escaped backslash before it makes it harmless, as does the other half behind it. */
const suspicious = /\\u(?:0000|[dD][89a-fA-F])/;

/** A text as a JSON value; undefined: it is not JSON, or nested too deeply to be stored. */
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

/** Storable, and not longer than asked. */
export function cleanText(text: string, maxLength: number): string {
  return storable(text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`);
}

/**
 * A JSON text whose strings and names are storable; all else stays as it was written. It is as long as before. Where two
 * names of an object become the same, the last one counts, as everywhere in JSON.
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

/** The same of JSON in UTF-8. */
export function storableJsonBytes(json: Buffer): Buffer {
  if (!json.includes('\\u')) return json;
  const text = json.toString();
  const clean = storableJson(text);
  return clean === text ? json : Buffer.from(clean);
}

/** Where the first escape of NUL or of half a pair stands in a JSON text, from the end of another on; -1: nowhere. */
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

/** The code unit of an escape such as `\u00e9` at a place of a JSON text; NaN: there is none. */
export function codeUnitAt(json: string, at: number): number {
  return json.startsWith('\\u', at) ? Number.parseInt(json.slice(at + 2, at + 6), 16) : NaN;
}

export const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
