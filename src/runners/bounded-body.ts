import { RunFailure } from '../queue/runs/runner.js';

/** The whole body as text. Throws when it is longer than `maxBytes`, or not UTF-8. */
export async function readBody(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    parts.push(chunk);
  }
  return decode(Buffer.concat(parts, size));
}

/** The first `maxBytes` of a body that need not be whole nor valid, for what a model says of its failure. */
export async function readBeginning(chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of chunks) {
      parts.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) break;
    }
  } catch {
    // The status has said already that the run failed; the rest of the words is not worth another error.
  }
  return Buffer.concat(parts).subarray(0, maxBytes);
}

export function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RunFailure("The model's answer is not UTF-8.", { code: 'model_error', retryable: false });
  }
}

export function tooLarge(maxBytes: number): RunFailure {
  return new RunFailure(`The model's answer is larger than ${maxBytes} bytes.`, {
    code: 'model_error',
    retryable: false,
  });
}
