// The model: Tesseract, compiled to WebAssembly, with its data for English. npm has installed both.
import { join } from 'node:path';
import english from '@tesseract.js-data/eng';
import { createWorker, OEM, PSM } from 'tesseract.js';

/** Pixels around a line that are read with it. */
const margin = 4;

const engine = await new Promise((resolve, reject) => {
  const options = {
    // Without these three, tesseract.js downloads the data, and writes a copy of it to the current folder.
    langPath: join(english.langPath, '../4.0.0_best_int'),
    gzip: true,
    cacheMethod: 'none',
    // Without a handler, a call that fails would end the process.
    errorHandler: reject,
  };
  createWorker('eng', OEM.LSTM_ONLY, options).then(resolve, reject);
});

/** Ends the thread of the model, which keeps the process alive. */
export const close = () => engine.terminate();

/** There is nothing to read in a picture. */
export class Unreadable extends Error {}

/**
 * Yields each line of text in a picture (PNG, JPEG, WebP, TIFF, …), with the part of the lines that is read, from 0 to 1.
 * First Tesseract finds where the lines are, and then it reads one after the other.
 */
export async function* readLines(picture) {
  const boxes = await findLines(picture);
  let hasText = false;
  for (const [index, { x0, y0, x1, y1 }] of boxes.entries()) {
    const [left, top] = [Math.max(0, x0 - margin), Math.max(0, y0 - margin)];
    const rectangle = { left, top, width: x1 + margin - left, height: y1 + margin - top };
    const how = { rectangle, tessedit_pageseg_mode: PSM.SINGLE_LINE };
    const text = (await recognize(picture, how, { text: true })).text.trim();
    if (text === '') continue;
    hasText = true;
    yield { text, progress: (index + 1) / boxes.length };
  }
  if (!hasText) throw new Unreadable('No text was found in the picture.');
}

async function findLines(picture) {
  try {
    const how = { tessedit_pageseg_mode: PSM.AUTO };
    const { layoutBlocks } = await recognize(picture, how, { text: false, layoutBlocks: true });
    const paragraphs = (layoutBlocks ?? []).flatMap((block) => block.paragraphs);
    return paragraphs.flatMap(({ lines }) => lines).map(({ bbox }) => bbox);
  } catch {
    throw new Unreadable('The file is not a picture that Tesseract can read.');
  }
}

/** Always sent as bytes, because tesseract.js would read or fetch what a text names. */
async function recognize(picture, how, wanted) {
  try {
    const { data } = await engine.recognize(Buffer.from(picture), how, wanted);
    return data;
  } catch (reason) {
    throw new Error(String(reason), { cause: reason });
  }
}
