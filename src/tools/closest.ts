/**
 * At most this many known words are compared letter by letter, because a caller may ask for any word and there may be
 * thousands.
 */
const maxCompared = 200;

/** Returns `, did you mean "timeout"?`, or nothing if no known word is near enough. */
export function hint(word: string, known: Iterable<string>): string {
  if (word.length > 64) return '';
  const asked = word.toLowerCase();
  let best = '';
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  let compared = 0;
  for (const candidate of known) {
    if (startsAlike(word, candidate)) {
      if (bestDistance > 1 && candidate.length > 1) [best, bestDistance] = [candidate, 1];
      continue;
    }
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const other = candidate.toLowerCase();
    if (lettersApart(asked, other) >= bestDistance || compared++ >= maxCompared) continue;
    const distance = editDistance(asked, other, bestDistance);
    if (distance < bestDistance && distance < candidate.length) [best, bestDistance] = [candidate, distance];
  }
  return best === '' ? '' : `, did you mean "${best}"?`;
}

/** Accepts `webhook_url` for `webhook`, or the other way round. */
const startsAlike = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) >= 4 && (a.startsWith(b) || b.startsWith(a));

const letters = new Int16Array(128);

/** Returns at most the edit distance: how many letters of one are not in the other, in any order. */
function lettersApart(a: string, b: string): number {
  letters.fill(0);
  for (let i = 0; i < a.length; i++) letters[a.charCodeAt(i) % 128]!++;
  let more = 0;
  for (let i = 0; i < b.length; i++) if (letters[b.charCodeAt(i) % 128]!-- <= 0) more++;
  return Math.max(more, more + a.length - b.length);
}

/** Returns the Levenshtein distance (insertions, deletions and substitutions), or `max` if it is that or more. */
function editDistance(a: string, b: string, max: number): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    // Further from the diagonal, there are at least `max` insertions or deletions.
    const from = Math.max(1, i - max);
    const to = Math.min(b.length, i + max);
    const next = Array.from({ length: b.length + 1 }, () => max);
    next[0] = i;
    let least = i;
    for (let j = from; j <= to; j += 1) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const distance = Math.min(substituted, row[j]! + 1, next[j - 1]! + 1);
      next[j] = distance;
      if (distance < least) least = distance;
    }
    if (least >= max) return max;
    row = next;
  }
  return Math.min(max, row[b.length]!);
}
