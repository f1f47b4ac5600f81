// Array parameters in PostgreSQL's binary format (array_send in src/backend/utils/adt/arrayfuncs.c). In text format,
// each element would be quoted here and parsed there, byte by byte. pg sends a Buffer as a binary parameter.

const uuidType = 2950;
const jsonType = 114;
const uuidBytes = 16;
const headerBytes = 20;

/** Values of hexadecimal digits, by character code. */
const digits = new Uint8Array(128);
for (let value = 0; value < 16; value++) digits[value.toString(16).charCodeAt(0)] = value;

/** Returns a parameter of type `uuid[]`. The ids must be in lower case, as PostgreSQL writes them. */
export function uuidArray(ids: readonly string[]): Buffer {
  const array = begin(uuidType, ids.length, ids.length * uuidBytes);
  let at = headerBytes;
  for (const id of ids) {
    at = array.writeInt32BE(uuidBytes, at);
    // Buffer's own hexadecimal decoding takes six times as long for so few digits.
    for (let i = 0; i < id.length; i += 2) {
      if (id[i] === '-') i++;
      array[at++] = (digits[id.charCodeAt(i)]! << 4) | digits[id.charCodeAt(i + 1)]!;
    }
  }
  return array;
}

/** Returns a parameter of type `json[]` from JSON texts. A Buffer holds a text in UTF-8. */
export function jsonArray(
  texts: readonly (string | Buffer | null)[],
  allocate: (bytes: number) => Buffer = Buffer.allocUnsafe,
): Buffer {
  const sizes = texts.map((text) => (text === null ? -1 : Buffer.byteLength(text)));
  const bytes = sizes.reduce((sum, size) => sum + Math.max(size, 0), 0);
  const array = begin(jsonType, texts.length, bytes, allocate);
  let at = headerBytes;
  texts.forEach((text, i) => {
    at = array.writeInt32BE(sizes[i]!, at);
    if (text !== null) at += typeof text === 'string' ? array.write(text, at) : text.copy(array, at);
  });
  return array;
}

/** More bytes than a batch of submissions may have. Larger arrays are not pooled. */
const pooledBytes = 2 * 1024 * 1024;
const pool: Buffer[] = [];

/** Like `jsonArray`, in reused memory. Allocating memory for each batch would keep the garbage collector busy. */
export async function withJsonArray<T>(
  texts: readonly Buffer[],
  use: (array: Buffer) => Promise<T>,
): Promise<T> {
  let memory: Buffer | undefined;
  const array = jsonArray(texts, (bytes) => {
    if (bytes > pooledBytes) return Buffer.allocUnsafe(bytes);
    memory = pool.pop() ?? Buffer.allocUnsafeSlow(pooledBytes);
    return memory.subarray(0, bytes);
  });
  try {
    return await use(array);
  } finally {
    if (memory !== undefined) pool.push(memory);
  }
}

/**
 * Allocates an array and writes its header: dimensions, an unused flag, the element's type, the length and the lower
 * bound.
 */
function begin(
  type: number,
  length: number,
  bytes: number,
  allocate: (bytes: number) => Buffer = Buffer.allocUnsafe,
): Buffer {
  const array = allocate(headerBytes + length * 4 + bytes);
  [1, 0, type, length, 1].forEach((value, i) => array.writeInt32BE(value, i * 4));
  return array;
}
