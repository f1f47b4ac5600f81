import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Run } from '../../queue/runs/runner.js';

/** Already checked against the model's input schema. */
interface StoryInput {
  prompt: string;
  words?: number;
}

const wordMs = 50;
const patterns = ['d a n v p d n.', 'd n v.', 'p d a n, d n v p d n.', 'd a n v, c d n v p d n.', 'c d n v.'];
const kinds: Record<string, string[]> = {
  d: ['the', 'a', 'one', 'every', 'no'],
  a: ['quiet', 'patient', 'copper', 'early', 'salted', 'crooked', 'distant', 'borrowed'],
  n: ['lighthouse', 'clerk', 'river', 'ticket', 'lantern', 'queue', 'baker', 'sparrow', 'letter', 'bell'],
  v: ['waited', 'wandered', 'counted', 'slept', 'sang', 'remembered', 'turned', 'hurried'],
  p: ['behind', 'beneath', 'beyond', 'beside', 'towards', 'without'],
  c: ['so', 'and', 'but', 'until', 'for'],
};

/** Emits a story word by word, like a language model. The same prompt produces the same story. */
export async function runStory(run: Run): Promise<undefined> {
  const { prompt, words = 100 } = JSON.parse(run.input) as StoryInput;
  const next = storyteller(createHash('sha256').update(prompt).digest().readUInt32BE(0));
  for (let said = 0; said < words; said++) {
    await delay(said === 0 ? 0 : wordMs, undefined, { signal: run.signal });
    run.delta(JSON.stringify(said === 0 ? next() : ` ${next()}`));
    run.progress((said + 1) / words);
  }
  return undefined;
}

/** Returns a function that returns the next word on each call. */
function storyteller(seed: number): () => string {
  let state = seed;
  const below = (count: number): number => {
    // A linear congruential generator (Numerical Recipes). Its upper bits are the better ones.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  let left: string[] = [];
  return () => {
    const isFirst = left.length === 0;
    if (isFirst) left = patterns[below(patterns.length)]!.split(' ');
    const [kind, mark = ''] = left.shift()!;
    const choices = kinds[kind!]!;
    const word = choices[below(choices.length)]!;
    return (isFirst ? word[0]!.toUpperCase() + word.slice(1) : word) + mark;
  };
}
