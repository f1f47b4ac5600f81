import { answerTexts } from './answer-text';
import { parseExactly } from './exact-json';
import { boundedView, elementFor, isInert, type Shown } from './payload';

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
    const file = fileIn(url, type);
    if (file === undefined) return undefined;
    const name = `media-${Object.keys(blobs).length}`;
    blobs[name] = file.blob;
    return { url: name, bytes: file.blob.size, ...(file.source !== undefined && { source: file.source }) };
  });
  return { shown, blobs, texts: answerTexts(value).slice(0, maxTexts).map(bounded) };
}

const bounded = (text: string): AnswerText => ({
  text: text.slice(0, maxRaw),
  rest: Math.max(0, text.length - maxRaw),
});

/**
 * A page at the address of a blob would belong to this origin, so a blob has a type only if that runs nothing. `source`
 * shows the other types: a page at a data URL has an origin of its own.
 */
function fileIn(url: string, type: string): { blob: Blob; source?: string } | undefined {
  const comma = url.indexOf(',');
  const content = url.slice(comma + 1);
  const options = { type: isInert(type) ? type : 'application/octet-stream' };
  const isShown = elementFor(type) !== undefined && !isInert(type);
  try {
    if (!/;base64$/i.test(url.slice(0, comma))) {
      const text = decodeURIComponent(content);
      const blob = new Blob([text], options);
      return isShown ? { blob, source: `data:${type},${encodeURIComponent(text)}` } : { blob };
    }
    const binary = atob(content);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    const blob = new Blob([bytes], options);
    return isShown ? { blob, source: `data:${type};base64,${content}` } : { blob };
  } catch {
    return undefined; // invalid base64: the value is shown as text
  }
}
