import { deltaText } from './answer-text';

/** A shown part of an output: a text, or the beginning of another value as JSON. Consecutive texts are joined. */
export interface GrownPart {
  /** The number of the part in the output. */
  at: number;
  text: string;
  isJson: boolean;
  /** Characters that follow and are not shown. */
  rest: number;
}

/** The parts of an output received so far. */
export interface Grown {
  parts: readonly GrownPart[];
  /** Leading characters that were dropped to limit the memory of a tab. */
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
/** At most this many characters of all parts are shown. */
const maxText = 200_000;
const maxParts = 1_000;
/** At most this many characters of a part that is JSON are shown. The whole output is shown when it is complete. */
const maxJson = 4_000;

export function grownBy(before: Grown, event: 'output' | 'reset' | 'done', data: Said): Grown {
  if (event === 'done') return before;
  if (event === 'reset') return { ...nothing, attempt: data.attempt ?? 0 };
  const text = deltaText(data.delta);
  if (text === '') return before;
  const { parts } = before;
  const last = parts.at(-1);
  if (text !== undefined && last?.isJson === false)
    return bounded(before, [...parts.slice(0, -1), { ...last, text: last.text + text }]);
  const at = last === undefined ? 0 : last.at + 1;
  const part = text === undefined ? jsonOf(data.delta) : { text, isJson: false, rest: 0 };
  return bounded(before, [...parts, { at, ...part }]);
}

function jsonOf(value: unknown): Omit<GrownPart, 'at'> {
  const json = JSON.stringify(value ?? null);
  const text = json.slice(0, maxJson);
  return { text, isJson: true, rest: json.length - text.length };
}

/** Drops the first parts, and then the beginning of a text. */
function bounded(before: Grown, parts: readonly GrownPart[]): Grown {
  let over = parts.reduce((sum, { text }) => sum + text.length, 0) - maxText;
  let first = 0;
  let { dropped } = before;
  const isDropped = ({ text, isJson }: GrownPart): boolean =>
    parts.length - first > maxParts || (over > 0 && (isJson || text.length <= over));
  while (isDropped(parts[first]!)) {
    const { text, rest } = parts[first++]!;
    over -= text.length;
    dropped += text.length + rest;
  }
  const [next, ...others] = parts.slice(first);
  if (over <= 0 || next === undefined) return { ...before, dropped, parts: parts.slice(first) };
  return { ...before, dropped: dropped + over, parts: [{ ...next, text: next.text.slice(over) }, ...others] };
}
