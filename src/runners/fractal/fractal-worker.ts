import { parentPort, workerData } from 'node:worker_threads';
import { crc32, deflateSync } from 'node:zlib';
import { type Drawing, drawFractal } from './fractal-image.js';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const bytesPerPixel = 3;
/** Each byte is the difference from the same channel of the pixel to the left. This compresses far better. */
const subFilter = 1;

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

/** Returns a PNG of 8-bit red, green and blue, row by row from the top. */
function encodePng(width: number, height: number, pixels: Uint8Array): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Bit depth 8, colour type 2 (RGB). Compression, filter and interlace have only or default values.
  header.set([8, 2, 0, 0, 0], 8);
  const image = deflateSync(filtered(width, height, pixels));
  const end = chunk('IEND', Buffer.alloc(0));
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', image), end]);
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(content.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

function filtered(width: number, height: number, pixels: Uint8Array): Uint8Array {
  const stride = width * bytesPerPixel;
  const rows = new Uint8Array((stride + 1) * height);
  for (let row = 0; row < height; row += 1) {
    const to = row * (stride + 1);
    rows[to] = subFilter;
    for (let at = 0; at < stride; at += 1) {
      const left = at < bytesPerPixel ? 0 : pixels[row * stride + at - bytesPerPixel]!;
      rows[to + 1 + at] = pixels[row * stride + at]! - left;
    }
  }
  return rows;
}
