import { deltaText } from './answer-text';

/** The parts of an output received so far. Consecutive texts are joined. */
export interface Grown {
  parts: unknown[];
  /** Leading parts or characters that were dropped to limit the memory of a tab. */
  dropped: number;
  /** The attempt that started the output again. 0: none did. */
  attempt: number;
}

/** The data of an event. */
export interface Said {
  delta?: unknown;
  attempt?: number;
}

export const nothing: Grown = { parts: [], dropped: 0, attempt: 0 };
const maxText = 200_000;
const maxParts = 1_000;

export function grownBy(before: Grown, event: 'output' | 'reset' | 'done', data: Said): Grown {
  if (event === 'done') return before;
  if (event === 'reset') return { ...nothing, attempt: data.attempt ?? 0 };
  const part = deltaText(data.delta) ?? data.delta;
  if (part === '') return before;
  const last = before.parts.at(-1);
  if (typeof part === 'string' && typeof last === 'string') {
    const text = last + part;
    const dropped = before.dropped + Math.max(0, text.length - maxText);
    return { ...before, dropped, parts: [...before.parts.slice(0, -1), text.slice(-maxText)] };
  }
  const parts = [...before.parts, part];
  const over = Math.max(0, parts.length - maxParts);
  return { ...before, dropped: before.dropped + over, parts: parts.slice(over) };
}
