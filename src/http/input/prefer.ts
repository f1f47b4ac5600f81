/**
 * Returns the wait in seconds that `Prefer` (RFC 7240) asks for. 0: none, or none that can be read. Without a number it
 * asks for the longest. The first of several counts.
 */
export function waitSeconds(field: string | string[] | undefined, maxWaitSeconds = 60): number {
  if (field === undefined) return 0;
  const wait = preferences(String(field)).find((preference) => /^\s*wait\s*(?:[=;]|$)/i.test(preference));
  const asked = wait?.split(';', 1)[0] ?? '';
  if (/^\s*wait\s*$/i.test(asked)) return maxWaitSeconds;
  const [, bare, quoted] = /=\s*(?:(\d+)|"(\d+)")\s*(?:;|$)/.exec(asked) ?? [];
  return Math.min(maxWaitSeconds, Number(bare ?? quoted ?? 0));
}

/** Splits the field into preferences with their parameters. A comma within quotes does not separate. */
function preferences(field: string): string[] {
  const found: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < field.length; at++) {
    const character = field[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === '\\' && isQuoted) at++;
    else if (character === ',' && !isQuoted) {
      found.push(field.slice(from, at));
      from = at + 1;
    }
  }
  found.push(field.slice(from));
  return found;
}
