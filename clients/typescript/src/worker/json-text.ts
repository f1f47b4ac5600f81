/** JSON that is passed on as it came: parsed and written again, numbers above 2^53 would be others. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** A value as JSON text. Throws where it is none. */
export function jsonOf(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  const text = JSON.stringify(value, finite) as string | undefined;
  if (text === undefined) throw new TypeError(`A ${typeof value} is no JSON value.`);
  return text;
}

/** JSON.stringify makes null of NaN, and says nothing. */
function finite(_name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError(`${value} is no JSON number.`);
}

export function isJson(value: unknown): boolean {
  try {
    return jsonOf(value) !== '';
  } catch {
    return false;
  }
}

/** The output that deltas make, as the service does it: strings that follow each other are joined, all else is listed. */
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
