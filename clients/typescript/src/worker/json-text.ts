/** JSON that is passed on unchanged. Parsing and serialising it would change numbers above 2^53. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** Returns a value as JSON text. Throws if it is not valid JSON. */
export function jsonOf(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  const text = JSON.stringify(value, finite) as string | undefined;
  if (text === undefined) throw new TypeError(`A ${typeof value} is not a JSON value.`);
  return text;
}

/** Throws on NaN and infinities, which JSON.stringify would silently turn into null. */
function finite(_name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError(`${value} is not a JSON number.`);
}

export function isJson(value: unknown): boolean {
  try {
    return jsonOf(value) !== '';
  } catch {
    return false;
  }
}

/** Returns the output that deltas make, by the service's rules: consecutive strings are joined, all else is listed. */
export function joined(deltas: readonly unknown[]): unknown {
  const parts: unknown[] = [];
  for (const delta of deltas) {
    const last = parts.at(-1);
    if (typeof last === 'string' && typeof delta === 'string') parts[parts.length - 1] = last + delta;
    else parts.push(delta);
  }
  const isText = parts.length === 1 && typeof parts[0] === 'string';
  return isText ? parts[0] : new JsonText(`[${parts.map(jsonOf).join(',')}]`);
}
