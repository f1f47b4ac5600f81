import type { Random } from '../random.js';
import { minFileBytes } from './made.js';

/** An action of the model in one attempt. The input of a request names one for each attempt. */
export type Step =
  | { do: 'answer'; ms: number }
  | { do: 'lines'; ms: number; lines: number }
  /** Emits its output as deltas; with `whole` also as a whole, which then counts. */
  | { do: 'deltas'; ms: number; deltas: number; kind: 'texts' | 'values'; whole: boolean }
  /** Answers with a file. */
  | { do: 'file'; ms: number; bytes: number }
  | { do: 'status'; ms: number; status: number; retryAfter?: number }
  /** Breaks the connection before it answers. */
  | { do: 'reset'; ms: number }
  /** Breaks the connections of all runs of its model, as a server does that dies. */
  | { do: 'kill'; ms: number }
  /** Breaks the connection in the middle of its lines, its deltas or its file. */
  | { do: 'cut'; ms: number; lines?: number; deltas?: number; bytes?: number }
  /** Ends with an error line. */
  | { do: 'error'; ms: number; lines: number; retryable: boolean }
  /** Never answers. */
  | { do: 'hang' }
  /** Answers when the harness releases it. */
  | { do: 'hold' }
  | WorkerStep;

/** Steps of workers only. */
type WorkerStep =
  /** Blocks its process. */
  | { do: 'block'; ms: number }
  /** Ends its process and everything that the process runs. */
  | { do: 'crash'; ms: number };

export interface ChaosInput {
  marker: string;
  /** Steps by attempt; the last one stands for all that follow. undefined: the model that echoes. */
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
    case 'chaos/tokens':
      return [...sometimes(random, 0.3, () => cutWords(random)), words(random)];
    case 'chaos/picture':
      return [...sometimes(random, 0.3, () => ({ ...picture(random), do: 'cut' })), picture(random)];
    case 'chaos/followed':
      return [{ do: 'answer', ms: random.integer(500, 12_000) }];
    case 'chaos/poison':
      return random.chance(0.06)
        ? [{ do: 'kill', ms: random.integer(50, 300) }]
        : [{ do: 'answer', ms: random.integer(100, 800) }];
    case 'chaos/work':
      return workPlan(random);
    case 'chaos/story':
      return [...sometimes(random, 0.2, () => cutWords(random)), words(random)];
    case 'chaos/drawing':
      return [picture(random)];
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

/** Long runs, so that faults hit them. */
function workPlan(random: Random): Step[] {
  const ms = random.integer(200, 6_000);
  const lines = random.integer(0, 8);
  const end: Step = random.chance(0.5) ? { do: 'answer', ms } : { do: 'lines', ms, lines };
  const first = random.next();
  if (first < 0.04) return [{ do: 'crash', ms: random.integer(1, 500) }, end];
  if (first < 0.06) return [{ do: 'crash', ms: random.integer(1, 500) }];
  if (first < 0.1) return [{ do: 'block', ms: random.integer(2_000, 8_000) }];
  if (first < 0.15) return [{ do: 'error', ms, lines, retryable: true }, end];
  if (first < 0.18) return [{ do: 'error', ms, lines, retryable: false }];
  return [end];
}

const words = (random: Random): Step => ({
  do: 'deltas',
  ms: random.integer(200, 6_000),
  deltas: random.integer(1, 120),
  kind: random.chance(0.7) ? 'texts' : 'values',
  whole: random.chance(0.2),
});

const cutWords = (random: Random): Step => ({
  do: 'cut',
  ms: random.integer(100, 2_000),
  deltas: random.integer(1, 40),
});

const picture = (random: Random): Step & { do: 'file' } => ({
  do: 'file',
  ms: random.integer(100, 3_000),
  bytes: random.integer(minFileBytes, 600_000),
});

function sometimes(random: Random, probability: number, step: () => Step): Step[] {
  return random.chance(probability) ? [step()] : [];
}
