/** The part of the plane to draw, and its colours. */
export type Scene = ReturnType<typeof sceneOf>;

/** Constants whose Julia sets fill the frame: dendrites, spirals, dragons. */
const juliaConstants = [
  [-0.7269, 0.1889],
  [-0.8, 0.156],
  [-0.4, 0.6],
  [0.285, 0.0135],
  [-0.835, -0.2321],
  [-0.70176, -0.3842],
  [-0.162, 1.04],
  [0.3, -0.01],
  [-0.7454054, 0.1130063],
  [-0.79, 0.15],
  [0.355, 0.355],
  [-0.54, 0.54],
  [0.37, 0.1],
  [-0.51251, 0.521295],
  [-0.1, 0.8383],
] as const;

/** Places at the edge of the Mandelbrot set that need few iterations: centre and radius. */
const mandelbrotPlaces = [
  [-0.7436, 0.1318, 0.0035],
  [-0.7453, 0.1127, 0.0065],
  [-0.7223, 0.2464, 0.0095],
  [-1.2507, 0.0201, 0.008],
  [-0.1592, 1.0317, 0.012],
  [0.3695, 0.1095, 0.008],
  [-0.5615, 0.6412, 0.012],
] as const;

/** Each palette is a cycle: the last colour blends into the first. */
const palettes: readonly (readonly string[])[] = [
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

/**
 * Derives everything from the seed. Without the constant of a Julia set, the scene is the Mandelbrot set itself. Angles
 * are in radians.
 */
export function sceneOf(seed: number) {
  const random = seededRandom(seed);
  const between = (low: number, high: number): number => low + (high - low) * random();
  const look = {
    rotation: between(0, 2 * Math.PI),
    palette: pick(palettes, random),
    /** The position in the palette at which the outermost ring begins. */
    paletteOffset: random(),
    /** Cycles through the palette per doubling of the iterations. */
    paletteRate: between(0.3, 0.55),
    /** The weight of the stripes against the rings, 0 to 1. */
    stripes: between(0.25, 0.6),
    light: between(0, 2 * Math.PI),
  };
  if (random() < 0.7) {
    const [re, im] = pick(juliaConstants, random);
    const julia = [re + between(-0.002, 0.002), im + between(-0.002, 0.002)] as const;
    const center = [between(-0.15, 0.15), between(-0.15, 0.15)] as const;
    /** Half of the shorter side, in the complex plane. */
    const radius = between(0.55, 1.05);
    return { ...look, julia, center, radius };
  }
  const [re, im, radius] = pick(mandelbrotPlaces, random);
  return { ...look, julia: undefined, center: [re, im] as const, radius: radius * between(0.6, 1.3) };
}

/** Returns a generator of numbers in [0, 1) from a seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function pick<T>(choices: readonly T[], random: () => number): T {
  return choices[Math.floor(random() * choices.length)]!;
}
