import { isObject } from './assemblers.js';

/**
 * Changes the embeddings of OpenAI's answer from numbers to base64, as its clients ask for them by default. Many servers
 * ignore that and send numbers.
 */
export function embeddingsInBase64(output: string): string {
  const answer: unknown = JSON.parse(output);
  const entries = isObject(answer) && Array.isArray(answer['data']) ? (answer['data'] as unknown[]) : [];
  for (const entry of entries.filter(isObject)) {
    const numbers = numbersIn(entry['embedding']);
    if (numbers === undefined) continue;
    entry['embedding'] = Buffer.from(numbers.buffer).toString('base64');
  }
  return JSON.stringify(answer);
}

/** Returns undefined for anything but a list of numbers, which is then answered as it is. */
function numbersIn(embedding: unknown): Float32Array | undefined {
  if (!Array.isArray(embedding) || !embedding.every((one) => typeof one === 'number')) return undefined;
  return Float32Array.from(embedding);
}
