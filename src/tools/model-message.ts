import { cleanText } from './storable-text.js';

const maxLength = 300;

/**
 * Returns the error message in the body of a failed answer, as one line. In JSON, it reads the formats of OpenAI's API,
 * FastAPI, RFC 9457 and others. In text, it takes the first line, or the last line of a traceback. undefined: there is
 * no readable message.
 */
export function messageIn(body: unknown): string | undefined {
  const text = typeof body === 'string' ? body : wordsIn(body);
  if (text.trimStart().startsWith('<')) return undefined;
  const lines = text.split('\n').map((one) => one.trim());
  const said = lines.filter((one) => one !== '');
  const line = said[0]?.startsWith('Traceback ') ? said.at(-1) : said[0];
  return line === undefined ? undefined : cleanText(line, maxLength);
}

function wordsIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return wordsIn(value[0]);
  if (typeof value !== 'object' || value === null) return '';
  const { error, message, detail, details, msg, title, loc } = value as Record<string, unknown>;
  for (const one of [error, message, detail, details, msg, title]) {
    const words = wordsIn(one);
    if (words !== '') return one === msg && Array.isArray(loc) ? `${loc.join('.')}: ${words}` : words;
  }
  return '';
}

/** Returns a sentence, followed by the model's own message if there is one. */
export function withModelMessage(sentence: string, modelMessage: string | undefined): string {
  return modelMessage === undefined ? sentence : `${sentence.replace(/\.$/, '')}: ${modelMessage}`;
}
