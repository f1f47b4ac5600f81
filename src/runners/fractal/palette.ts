/** Each runs in a circle: the last colour goes over into the first. */
export const palettes: readonly (readonly string[])[] = [
  ['#0b1026', '#1f3a7a', '#3fa7d6', '#f6f1d1', '#f7a440', '#7a1f3d'],
  ['#10002b', '#3c096c', '#9d4edd', '#ff9ebb', '#ffe5d9', '#5a189a'],
  ['#011c27', '#03506f', '#0a9396', '#94d2bd', '#f4f1de', '#ee9b00', '#9b2226'],
  ['#0d0d0d', '#3d1308', '#b23a0e', '#f48c06', '#ffe8a3', '#6a040f'],
  ['#04151f', '#183a37', '#6a994e', '#e9edc9', '#d4a373', '#432534'],
  ['#03071e', '#14213d', '#4361ee', '#4cc9f0', '#f1faee', '#7209b7'],
  ['#1a0b2e', '#4a1c6b', '#c9348a', '#ff8fa3', '#fff0d4', '#1b6ca8', '#0b2545'],
  ['#0a0908', '#22333b', '#5e8c8a', '#eae0d5', '#c6ac8f', '#5e503f'],
  ['#12030e', '#5f0f40', '#e36414', '#fcefb4', '#0fa3b1', '#0b3954'],
  ['#020b1c', '#0b3c5d', '#328cc1', '#d9f0ff', '#fdc6d0', '#8e3b6f'],
];

const size = 2_048;

/** A palette as linear-light red, green and blue, `size` times, to be read by a phase from 0 to 1. */
export class PaletteTable {
  private readonly table = new Float64Array(size * 3);

  constructor(colours: readonly string[]) {
    const stops = colours.map(linear);
    for (let entry = 0; entry < size; entry += 1) {
      const place = (entry / size) * stops.length;
      const from = stops[Math.floor(place)]!;
      const to = stops[(Math.floor(place) + 1) % stops.length]!;
      const t = place - Math.floor(place);
      const eased = t * t * (3 - 2 * t);
      for (let channel = 0; channel < 3; channel += 1) {
        // Mixed by cube root, near to how the eye mixes.
        const mixed = Math.cbrt(from[channel]!) * (1 - eased) + Math.cbrt(to[channel]!) * eased;
        this.table[entry * 3 + channel] = mixed ** 3;
      }
    }
  }

  addTo(sums: Float64Array, phase: number, weight: number, highlight: number): void {
    const entry = Math.floor((phase - Math.floor(phase)) * size) * 3;
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

/** A linear-light value as an sRGB byte. */
export function srgbByte(value: number): number {
  const encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(Math.max(encoded, 0), 1) * 255);
}
