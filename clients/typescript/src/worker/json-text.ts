/** JSON that is passed on unchanged. Parsing and serialising it would change numbers above 2^53. */
export class JsonText {
  constructor(readonly text: string) {}
}

const lost = [ArrayBuffer, Blob, Map, Set, Promise];

/** Returns a value as JSON text. Throws if it is not valid JSON. */
export function jsonOf(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  const text = JSON.stringify(value, allowed) as string | undefined;
  if (text === undefined) throw new TypeError(`A ${typeof value} is not a JSON value.`);
  return text;
}

/** Throws on what JSON.stringify would silently turn into something else, such as NaN into null and a Map into {}. */
function allowed(this: unknown, name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${value} is not a JSON number.`);
  if (typeof value !== 'object' || value === null) return value;
  const given = (this as Record<string, unknown>)[name]; // before its `toJSON`, which bytes have
  if (ArrayBuffer.isView(given) || lost.some((type) => given instanceof type))
    throw new TypeError(`A ${(given as object).constructor.name} is not a JSON value.`);
  return value;
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
