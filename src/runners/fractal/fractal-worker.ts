import { parentPort, workerData } from 'node:worker_threads';
import type { Drawing } from './drawing.js';
import { drawFractal } from './fractal-image.js';
import { encodePng } from './png.js';

/** What the thread tells: progress, and at last the picture. */
export type WorkerMessage = { percent: number; png?: undefined } | { png: Uint8Array };

const drawing = workerData as Drawing;
let told = 0;
const pixels = drawFractal(drawing, (rows) => {
  const percent = Math.floor((rows * 10) / drawing.height) * 10;
  if (percent > told) tell({ percent: (told = percent) });
});
const png = new Uint8Array(encodePng(drawing.width, drawing.height, pixels));
tell({ png }, [png.buffer]);

function tell(message: WorkerMessage, handedOver: ArrayBuffer[] = []): void {
  parentPort!.postMessage(message, handedOver);
}
