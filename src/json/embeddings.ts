import { isObject } from './assemblers.js';

/**
 * Changes the embeddings of OpenAI's answer from numbers to base64, as its clients ask for them by default. Many servers
 * ignore that and send numbers.
 */
export function embeddingsInBase64(output: string): string {
  const answer: unknown = JSON.parse(output);
  const entries = isObject(answer) && Array.isArray(answer['data']) ? (answer['data'] as unknown[]) : [];
  for (const entry of entries.filter(isObject)) {
    if (!Array.isArray(entry['embedding'])) continue;
    const numbers = Float32Array.from(entry['embedding'] as number[]);
    entry['embedding'] = Buffer.from(numbers.buffer).toString('base64');
  }
  return JSON.stringify(answer);
}
