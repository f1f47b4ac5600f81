import { createHash } from 'node:crypto';

/** The bytes of a file that one run makes: its own, so that no other's can be taken for them. */
export function fileBytes(nonce: string, length: number): Buffer {
  return Buffer.alloc(length, `${nonce}\n`);
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What one run says bit by bit; every bit names the run. */
export function deltaOf(nonce: string, i: number, kind: 'texts' | 'values'): unknown {
  return kind === 'texts' ? `${nonce} ${i};` : { nonce, i };
}

/** The run that made an output; empty: the output names none. */
export function nonceOf(output: unknown): string {
  if (typeof output === 'string') return output.split(' ', 1)[0]!;
  if (Array.isArray(output)) return nonceOf(output[0]);
  return (output as { nonce?: string } | null)?.nonce ?? '';
}

/** So many bits as the output that they make: texts joined, others listed. */
export function joinedDeltas(deltas: readonly unknown[]): unknown {
  return deltas.every((delta) => typeof delta === 'string') ? deltas.join('') : deltas;
}
