/*
 * Array parameters in PostgreSQL's binary format (array_send in src/backend/utils/adt/arrayfuncs.c). As text, each
 * element would be quoted here and taken apart there, byte by byte. pg sends a Buffer as a binary parameter.
 */

const uuidType = 2950;
const jsonType = 114;
const uuidBytes = 16;

/** Values of hexadecimal digits by their character codes. */
const digits = new Uint8Array(128);
for (let value = 0; value < 16; value++) digits[value.toString(16).charCodeAt(0)] = value;

/** For a parameter of type `uuid[]`; in lower case, as PostgreSQL writes them. */
export function uuidArray(ids: readonly string[]): Buffer {
  const { array, start } = begin(uuidType, ids.length, false, ids.length * uuidBytes);
  let at = start;
  for (const id of ids) {
    at = array.writeInt32BE(uuidBytes, at);
    // Buffer's own reading of hexadecimal takes six times as long for so few.
    for (let i = 0; i < id.length; i += 2) {
      if (id[i] === '-') i++;
      array[at++] = (digits[id.charCodeAt(i)]! << 4) | digits[id.charCodeAt(i + 1)]!;
    }
  }
  return array;
}

/** For a parameter of type `json[]`, from JSON texts. */
export function jsonArray(texts: readonly (string | null)[]): Buffer {
  const sizes = texts.map((text) => (text === null ? -1 : Buffer.byteLength(text)));
  const bytes = sizes.reduce((sum, size) => sum + Math.max(size, 0), 0);
  const { array, start } = begin(jsonType, texts.length, sizes.includes(-1), bytes);
  let at = start;
  texts.forEach((text, i) => {
    at = array.writeInt32BE(sizes[i]!, at);
    if (text !== null) at += array.write(text, at);
  });
  return array;
}

/** The header: dimensions, whether there are nulls, the element's type; then the length and the lower bound. */
function begin(
  type: number,
  length: number,
  hasNulls: boolean,
  bytes: number,
): { array: Buffer; start: number } {
  const header = length === 0 ? [0, 0, type] : [1, Number(hasNulls), type, length, 1];
  const array = Buffer.allocUnsafe(header.length * 4 + length * 4 + bytes);
  const start = header.reduce((at, value) => array.writeInt32BE(value, at), 0);
  return { array, start };
}
