import { Orbit } from './orbit.js';
import { PaletteTable, srgbByte } from './palette.js';
import { type Scene, sceneOf } from './scene.js';

export interface Drawing {
  width: number;
  height: number;
  /** A point that has not escaped after so many iterations belongs to the set. */
  steps: number;
  seed: number;
}

const samplesPerSide = 3;
const lightHeight = 1.4;

/** Red, green and blue bytes, row by row from the top; `onRow` gets how many rows are done. */
export function drawFractal(
  { width, height, steps, seed }: Drawing,
  onRow: (rows: number) => void,
): Uint8Array {
  const scene = sceneOf(seed);
  const shade = createShader(scene, steps);
  const pixels = new Uint8Array(width * height * 3);
  const scale = (2 * scene.radius) / Math.min(width, height) / samplesPerSide;
  const cos = Math.cos(scene.rotation) * scale;
  const sin = Math.sin(scene.rotation) * scale;
  const sums = new Float64Array(3);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      sums.fill(0);
      for (let sample = 0; sample < samplesPerSide ** 2; sample += 1) {
        const u = (column - width / 2) * samplesPerSide + (sample % samplesPerSide) + 0.5;
        const v = (row - height / 2) * samplesPerSide + Math.floor(sample / samplesPerSide) + 0.5;
        shade(scene.center[0] + u * cos - v * sin, scene.center[1] + u * sin + v * cos, sums);
      }
      const at = (row * width + column) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        pixels[at + channel] = srgbByte(sums[channel]! / samplesPerSide ** 2);
      }
    }
    onRow(row + 1);
  }
  return pixels;
}

/** Adds the linear-light colour of a point to three sums. */
function createShader(scene: Scene, steps: number): (x: number, y: number, sums: Float64Array) => void {
  const orbit = new Orbit(scene.julia, steps);
  const palette = new PaletteTable(scene.palette);
  const lightX = Math.cos(scene.light);
  const lightY = Math.sin(scene.light);
  return (x, y, sums) => {
    orbit.follow(x, y);
    if (!orbit.escaped) {
      const glow = Math.min(orbit.nearest, 1);
      palette.addTo(sums, scene.paletteOffset + glow * 0.6, 0.04 + 0.3 * glow * glow, 0);
      return;
    }
    const phase =
      scene.paletteOffset + Math.log2(orbit.count + 2) * scene.paletteRate + orbit.stripe * scene.stripes;
    const facing = orbit.slopeX * lightX + orbit.slopeY * lightY;
    const light = Math.max((facing + lightHeight) / (1 + lightHeight), 0);
    palette.addTo(sums, phase, 0.35 + 0.75 * light, 0.03 * light ** 24);
  };
}
