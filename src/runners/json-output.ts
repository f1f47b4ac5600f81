import { RunFailure } from '../queue/runs/runner.js';
import { readBody } from './bounded-body.js';
import type { HttpAnswer } from './http-exchange.js';
import { parseJson } from './json-text.js';

/** The whole answer is the output. */
export async function readJsonOutput({ chunks }: HttpAnswer, maxBytes: number): Promise<string> {
  const text = await readBody(chunks, maxBytes);
  if (parseJson(text) !== undefined) return text;
  const reason = text.trim() === '' ? 'is empty' : 'is called application/json, but cannot be read as JSON';
  throw new RunFailure(`The model's answer ${reason}.`, { code: 'model_error', retryable: false });
}
