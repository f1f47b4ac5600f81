import { setTimeout as delay } from 'node:timers/promises';

const minuteMs = 60_000;
/** Callers stay below this fraction of their limit, because limits are for callers that use more. */
const share = 0.7;

/**
 * Limits a load: before each turn it waits until no minute can contain more calls of a caller than this fraction of
 * its limit, however fast the subject is. All callers call equally often.
 * @template {{ answers: number }} L
 * @param {(seconds: number) => Promise<L>} load
 * @param {{ callers: number, perMinute: number }} limit
 * @returns {(seconds: number) => Promise<L>}
 */
export function withinLimit(load, { callers, perMinute }) {
  const turns = [];
  const most = perMinute * share;
  let quickest = 0;
  return async (seconds) => {
    const expected = quickest * seconds;
    if (expected > most) throw new Error(`${callers} callers are too few for turns of ${seconds} s`);
    for (;;) {
      const recent = turns.filter(({ endedAt }) => endedAt > performance.now() - minuteMs);
      if (recent.reduce((sum, { calls }) => sum + calls, expected) <= most) break;
      await delay(recent[0].endedAt + minuteMs - performance.now());
    }
    const result = await load(seconds);
    const calls = Math.ceil(result.answers / callers);
    turns.push({ endedAt: performance.now(), calls });
    quickest = Math.max(quickest, calls / seconds);
    return result;
  };
}
