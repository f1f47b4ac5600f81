import { crc32, deflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const bytesPerPixel = 3;
const paeth = 4;

/** A PNG of 8-bit red, green and blue, row by row from the top. */
export function encodePng(width: number, height: number, pixels: Uint8Array): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Bit depth 8, colour type 2 (RGB); compression, filter and interlace are the only or the plain ones.
  header.set([8, 2, 0, 0, 0], 8);
  const image = deflateSync(filtered(width, height, pixels));
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', image),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(content.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** Each byte as its difference from what its neighbours foretell, which packs far better. */
function filtered(width: number, height: number, pixels: Uint8Array): Uint8Array {
  const stride = width * bytesPerPixel;
  const rows = new Uint8Array((stride + 1) * height);
  for (let row = 0; row < height; row += 1) {
    rows[row * (stride + 1)] = paeth;
    for (let at = 0; at < stride; at += 1) {
      const here = row * stride + at;
      const left = at < bytesPerPixel ? 0 : pixels[here - bytesPerPixel]!;
      const up = row === 0 ? 0 : pixels[here - stride]!;
      const corner = at < bytesPerPixel || row === 0 ? 0 : pixels[here - stride - bytesPerPixel]!;
      rows[row * (stride + 1) + 1 + at] = pixels[here]! - foretold(left, up, corner);
    }
  }
  return rows;
}

function foretold(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
