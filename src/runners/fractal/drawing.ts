import { createHash } from 'node:crypto';

/** As the model's input schema has checked it. */
export interface DrawingInput {
  prompt: string;
  width?: number;
  height?: number;
  steps?: number;
}

/** All that decides the picture. */
export interface Drawing {
  width: number;
  height: number;
  /** A point that has not escaped after so many iterations belongs to the set. */
  steps: number;
  /** 32 bits of the prompt's hash: the same prompt gives the same picture. */
  seed: number;
}

export function drawingOf({ prompt, width = 768, height = 768, steps = 200 }: DrawingInput): Drawing {
  const seed = createHash('sha256').update(prompt).digest().readUInt32BE(0);
  return { width, height, steps, seed };
}
