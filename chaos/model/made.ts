import { createHash } from 'node:crypto';

/** A file of this size has room for the whole nonce of its run. */
export const minFileBytes = 100;

/** The bytes of a file that one run makes. They differ from those of every other run. */
export function fileBytes(nonce: string, length: number): Buffer {
  if (length < minFileBytes) throw new Error(`A file of ${length} bytes may be that of another run`);
  return Buffer.alloc(length, `${nonce}\n`);
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A delta of one run; every delta names its run. */
export function deltaOf(nonce: string, i: number, kind: 'texts' | 'values'): unknown {
  return kind === 'texts' ? `${nonce} ${i};` : { nonce, i };
}

/** Returns the nonce of the run that made an output; empty: the output names no run. */
export function nonceOf(output: unknown): string {
  if (typeof output === 'string') return output.split(' ', 1)[0]!;
  if (Array.isArray(output)) return nonceOf(output[0]);
  return (output as { nonce?: string } | null)?.nonce ?? '';
}

/** The output that deltas make: texts are joined, other values are listed. */
export function joinedDeltas(deltas: readonly unknown[]): unknown {
  return deltas.every((delta) => typeof delta === 'string') ? deltas.join('') : deltas;
}
