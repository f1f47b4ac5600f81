/** `, did you mean "timeout"?`, or nothing where no known word is near enough. */
export function hint(word: string, known: Iterable<string>): string {
  if (word.length > 64) return '';
  let best = '';
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    if (!startsAlike(word, candidate) && Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = startsAlike(word, candidate)
      ? 1
      : editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance && distance < candidate.length) [best, bestDistance] = [candidate, distance];
  }
  return best === '' ? '' : `, did you mean "${best}"?`;
}

/** `webhook_url` for `webhook`, or the other way round. */
const startsAlike = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) >= 4 && (a.startsWith(b) || b.startsWith(a));

/** Levenshtein's: insertions, deletions and substitutions. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
