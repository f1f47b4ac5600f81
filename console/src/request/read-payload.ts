import { send } from '../api/client';
import { mediaOf, type Shown } from './payload';
import type { AnswerText, PayloadAnswer, PayloadQuestion } from './payload-worker';

export interface Payload {
  bytes: number;
  /** undefined: the payload is not JSON, or was not read completely. */
  shown: Shown | undefined;
  /** The texts of the payload for people to read. */
  texts: AnswerText[];
  /** What is shown of a payload that is not JSON, or was not read completely. */
  text: string;
  /** Bytes that are not shown. */
  rest: number;
  free: () => void;
}

/** Reads a payload of at most `maxBytes`. Of a larger one, only the beginning is shown, as text. */
export async function readPayload(path: string, maxBytes: number, signal: AbortSignal): Promise<Payload> {
  const response = await send(path, { signal, headers: { accept: 'application/json, */*' } });
  const length = Number(response.headers.get('content-length') ?? 0);
  const chunks: Uint8Array[] = [];
  let read = 0;
  let isWhole = true;
  const reader = response.body!.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    read += value.length;
    if (read > maxBytes) {
      isWhole = false;
      await reader.cancel();
      break;
    }
  }
  const bytes = Math.max(length, read);
  const whole = new Uint8Array(read);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  const free = (): void => undefined;
  if (!isWhole) {
    const text = new TextDecoder().decode(whole.subarray(0, 4 * 1024));
    return { bytes, shown: undefined, texts: [], text, rest: bytes - 4 * 1024, free };
  }
  const answer = await inWorker({ text: whole.buffer }, signal);
  if (!('shown' in answer)) return { bytes, shown: undefined, texts: [], ...answer, free };
  const urls = mediaOf(answer.shown).map(
    (media) => (media.url = URL.createObjectURL(answer.blobs[media.url]!)),
  );
  return {
    bytes,
    shown: answer.shown,
    texts: answer.texts,
    text: '',
    rest: 0,
    free: () => urls.forEach((url) => URL.revokeObjectURL(url)),
  };
}

async function inWorker(question: PayloadQuestion, signal: AbortSignal): Promise<PayloadAnswer> {
  const worker = new Worker(new URL('./payload-worker.ts', import.meta.url), { type: 'module' });
  try {
    return await new Promise<PayloadAnswer>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<PayloadAnswer>) => resolve(data));
      worker.addEventListener('error', () => reject(new Error('This content could not be read.')));
      signal.addEventListener('abort', () => reject(new DOMException('Left', 'AbortError')));
      worker.postMessage(question, [question.text]);
    });
  } finally {
    worker.terminate();
  }
}
