/** What `Prefer` (RFC 7240) asks to wait; 0: nothing, or nothing that can be read. The first of several counts. */
export function waitSeconds(field: string | string[] | undefined, maxWaitSeconds = 60): number {
  if (field === undefined) return 0;
  const wait = preferences(String(field)).find((preference) => /^\s*wait\s*(?:[=;]|$)/i.test(preference));
  const [, bare, quoted] = /=\s*(?:(\d+)|"(\d+)")\s*(?:;|$)/.exec(wait?.split(';', 1)[0] ?? '') ?? [];
  return Math.min(maxWaitSeconds, Number(bare ?? quoted ?? 0));
}

/** With their parameters. A comma within quotes separates nothing. */
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
