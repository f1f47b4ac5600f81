import { Orbit } from './orbit.js';
import { type Scene, sceneOf } from './scene.js';

export interface Drawing {
  width: number;
  height: number;
  /** A point that has not escaped after this many iterations belongs to the set. */
  steps: number;
  seed: number;
}

const samplesPerSide = 3;
const lightHeight = 1.4;
const tableSize = 2_048;

/** Returns red, green and blue bytes, row by row from the top. `onRow` receives the number of finished rows. */
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

/** Returns a function that adds the linear-light colour of a point to three sums. */
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

/** A palette of `tableSize` linear-light colours, looked up by a phase from 0 to 1. */
class PaletteTable {
  private readonly table = new Float64Array(tableSize * 3);

  constructor(colours: readonly string[]) {
    const stops = colours.map(linear);
    for (let entry = 0; entry < tableSize; entry += 1) {
      const place = (entry / tableSize) * stops.length;
      const from = stops[Math.floor(place)]!;
      const to = stops[(Math.floor(place) + 1) % stops.length]!;
      const t = place - Math.floor(place);
      const eased = t * t * (3 - 2 * t);
      for (let channel = 0; channel < 3; channel += 1) {
        // Mixed by cube root, which is close to human perception.
        const mixed = Math.cbrt(from[channel]!) * (1 - eased) + Math.cbrt(to[channel]!) * eased;
        this.table[entry * 3 + channel] = mixed ** 3;
      }
    }
  }

  addTo(sums: Float64Array, phase: number, weight: number, highlight: number): void {
    const entry = Math.floor((phase - Math.floor(phase)) * tableSize) * 3;
    for (let channel = 0; channel < 3; channel += 1) {
      sums[channel]! += this.table[entry + channel]! * weight + highlight;
    }
  }
}

function linear(colour: string): number[] {
  return [1, 3, 5].map((at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
}

/** Returns a linear-light value as an sRGB byte. */
function srgbByte(value: number): number {
  const encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(Math.max(encoded, 0), 1) * 255);
}
