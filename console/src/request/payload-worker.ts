import { answerTexts } from './answer-text';
import { parseExactly } from './exact-json';
import { boundedView, elementFor, type Shown } from './payload';

export interface PayloadQuestion {
  text: ArrayBuffer;
}

/** A text to read, and how many characters of it are not shown. */
export interface AnswerText {
  text: string;
  rest: number;
}

export type PayloadAnswer = { shown: Shown; blobs: Record<string, Blob>; texts: AnswerText[] } | AnswerText;

const maxRaw = 64 * 1024;
const maxTexts = 16;

/** Runs outside the page's thread, because parsing 30 MB of JSON would block the page too long. */
self.addEventListener('message', ({ data }: MessageEvent<PayloadQuestion>) => {
  self.postMessage(read(new TextDecoder().decode(data.text)));
});

function read(text: string): PayloadAnswer {
  const blobs: Record<string, Blob> = {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return bounded(text);
  }
  const shown = boundedView(parseExactly(text, value), (url, type) => {
    const blob = toBlob(url, type);
    if (blob === undefined) return undefined;
    const name = `media-${Object.keys(blobs).length}`;
    blobs[name] = blob;
    return { url: name, bytes: blob.size };
  });
  return { shown, blobs, texts: answerTexts(value).slice(0, maxTexts).map(bounded) };
}

const bounded = (text: string): AnswerText => ({
  text: text.slice(0, maxRaw),
  rest: Math.max(0, text.length - maxRaw),
});

function toBlob(url: string, given: string): Blob | undefined {
  const comma = url.indexOf(',');
  // A page at the address of a blob would belong to this origin.
  const type = elementFor(given) === undefined ? 'application/octet-stream' : given;
  try {
    if (!/;base64$/i.test(url.slice(0, comma)))
      return new Blob([decodeURIComponent(url.slice(comma + 1))], { type });
    const binary = atob(url.slice(comma + 1));
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return new Blob([bytes], { type });
  } catch {
    return undefined; // invalid base64: the value is shown as text
  }
}
