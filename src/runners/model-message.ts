import { cleanText } from '../tools/storable-text.js';

const maxLength = 300;

/**
 * What the body of a failed answer says, in a line: the message of JSON as OpenAI's API, FastAPI, RFC 9457 and others
 * write it, the first line of a text, the last of a traceback; undefined: nothing that a person would read.
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
  const { error, message, detail, msg, title, loc } = value as Record<string, unknown>;
  for (const one of [error, message, detail, msg, title]) {
    const words = wordsIn(one);
    if (words !== '') return one === msg && Array.isArray(loc) ? `${loc.join('.')}: ${words}` : words;
  }
  return '';
}
