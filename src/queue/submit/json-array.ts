/** Above what a batch may weigh; what is larger is not pooled. */
const pooledBytes = 2 * 1024 * 1024;

const free: Buffer[] = [];

/** In memory that is used again: a megabyte allocated for each batch kept the garbage collector busier than the rest. */
export async function withJsonArray<T>(
  values: readonly Buffer[],
  use: (array: Buffer) => Promise<T>,
): Promise<T> {
  const bytes = values.reduce((sum, { length }) => sum + length + 1, 1);
  const isPooled = bytes <= pooledBytes;
  const memory = isPooled ? (free.pop() ?? Buffer.allocUnsafeSlow(pooledBytes)) : Buffer.allocUnsafe(bytes);
  try {
    return await use(write(values, memory));
  } finally {
    if (isPooled) free.push(memory);
  }
}

function write(values: readonly Buffer[], memory: Buffer): Buffer {
  memory[0] = 0x5b; // [
  let end = 1;
  for (const value of values) {
    end += value.copy(memory, end);
    memory[end++] = 0x2c; // ,
  }
  memory[values.length === 0 ? end++ : end - 1] = 0x5d; // ]
  return memory.subarray(0, end);
}
