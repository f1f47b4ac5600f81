/** Begins a text that stands for a number. */
const mark = '\ue000number:';

/** Nearly all payloads have no such number, and need not be read twice. */
const mayLose = /\d[\d.]{15}|\d[eE][+-]?\d/;
const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Parses JSON. A number that JavaScript would change, such as a seed of 64 bits, becomes a text for `numberIn`. `value`:
 * what JSON.parse returns.
 */
export function parseExactly(json: string, value: unknown): unknown {
  return mayLose.test(json) ? JSON.parse(marked(json)) : value;
}

/** Returns the number that a text stands for, as it was written. undefined: it is an ordinary text. */
export const numberIn = (text: string): string | undefined =>
  text.startsWith(mark) ? text.slice(mark.length) : undefined;

function marked(json: string): string {
  let result = '';
  for (let at = 0; at < json.length;) {
    const quote = json.indexOf('"', at);
    const end = quote === -1 ? json.length : quote;
    result += json.slice(at, end).replaceAll(number, (one) => (isKept(one) ? one : `"${mark}${one}"`));
    at = quote === -1 ? end : endOfText(json, quote);
    result += json.slice(end, at);
  }
  return result;
}

/** Returns the place behind the text that begins with this quote. */
function endOfText(json: string, quote: number): number {
  for (let at = json.indexOf('"', quote + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let slashes = 0;
    while (json[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return json.length;
}

/** Any number of 15 digits can be held. */
function isKept(written: string): boolean {
  const digits = written
    .replace(/e.*$/i, '')
    .replaceAll(/[-.]/g, '')
    .replaceAll(/^0+|0+$/g, '');
  const value = Number(written);
  return digits.length <= 15 && Number.isFinite(value) && (value !== 0 || digits === '');
}
