import { parentPort, workerData } from 'node:worker_threads';
import { type Drawing, drawFractal } from './fractal-image.js';
import { encodePng } from './png.js';

export type WorkerMessage = { percent: number; png?: undefined } | { png: Uint8Array };

const drawing = workerData as Drawing;
let reported = 0;
const pixels = drawFractal(drawing, (rows) => {
  const percent = Math.floor((rows * 10) / drawing.height) * 10;
  if (percent > reported) send({ percent: (reported = percent) });
});
const png = new Uint8Array(encodePng(drawing.width, drawing.height, pixels));
send({ png }, [png.buffer]);

function send(message: WorkerMessage, handedOver: ArrayBuffer[] = []): void {
  parentPort!.postMessage(message, handedOver);
}
