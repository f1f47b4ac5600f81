import type { Random } from '../random.js';

/** What the model does with one attempt; the input of a request names one for each. */
export type Step =
  | { do: 'answer'; ms: number }
  | { do: 'lines'; ms: number; lines: number }
  | { do: 'status'; ms: number; status: number; retryAfter?: number }
  /** Breaks the connection before it answers. */
  | { do: 'reset'; ms: number }
  /** Breaks the connection in the middle of its lines. */
  | { do: 'cut'; ms: number; lines: number }
  /** Ends with an error line. */
  | { do: 'error'; ms: number; lines: number; retryable: boolean }
  /** Never answers. */
  | { do: 'hang' }
  /** Answers when the harness lets it. */
  | { do: 'hold' };

export interface ChaosInput {
  marker: string;
  /** By attempt; the last one stands for all that follow. The model that echoes has none. */
  plan?: Step[];
}

export function planFor(modelId: string, random: Random): Step[] {
  switch (modelId) {
    case 'chaos/slow':
      return [{ do: 'lines', ms: random.integer(300, 3_000), lines: random.integer(2, 20) }];
    case 'chaos/single':
      return [{ do: 'lines', ms: random.integer(20, 150), lines: random.integer(0, 4) }];
    case 'chaos/impatient':
      return [{ do: 'answer', ms: random.integer(200, 800) }];
    case 'chaos/broken':
      return [...Array.from({ length: random.integer(0, 3) }, () => mishap(random)), goodEnd(random)];
    default:
      return [goodEnd(random)];
  }
}

function goodEnd(random: Random): Step {
  const ms = random.integer(1, 80);
  return random.chance(0.5) ? { do: 'answer', ms } : { do: 'lines', ms, lines: random.integer(1, 6) };
}

function mishap(random: Random): Step {
  const ms = random.integer(1, 200);
  const lines = random.integer(0, 5);
  return random.pick<Step>([
    { do: 'status', ms, status: 500 },
    { do: 'status', ms, status: 503 },
    { do: 'status', ms, status: 429, retryAfter: 1 },
    { do: 'status', ms, status: 400 },
    { do: 'reset', ms },
    { do: 'cut', ms, lines },
    { do: 'error', ms, lines, retryable: true },
    { do: 'error', ms, lines, retryable: false },
    { do: 'hang' },
  ]);
}
