/**
 * Which escape in a valid JSON text stands for no text that PostgreSQL can hold: a NUL, or half a surrogate pair.
 * Looked for in the text, because a member that a later one of its name hides is stored with it.
 */
export function findBadEscape(text: string): 'nul' | 'surrogate' | undefined {
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at)) {
    if (text[at + 1] !== 'u') {
      at += 2;
      continue;
    }
    const unit = codeUnit(text, at);
    at += 6;
    if (unit === 0) return 'nul';
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = text.startsWith('\\u', at) ? codeUnit(text, at) : 0;
    if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff) return 'surrogate';
    at += 6;
  }
  return undefined;
}

function codeUnit(text: string, at: number): number {
  return Number.parseInt(text.slice(at + 2, at + 6), 16);
}

/**
 * JSON Pointer (RFC 6901) of the first text, member name or number that `isBad`; undefined: none is. Walks without
 * writing paths down, because a body may have five million places; it must not be nested without bounds.
 */
export function findPointer(value: unknown, isBad: (leaf: string | number) => boolean): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') return isBad(value) ? '' : undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const below = findPointer(value[index], isBad);
      if (below !== undefined) return `/${index}${below}`;
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) {
      const below = isBad(key) ? '' : findPointer((value as Record<string, unknown>)[key], isBad);
      if (below !== undefined) return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}${below}`;
    }
  }
  return undefined;
}
