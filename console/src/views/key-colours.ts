const seen = new Map<string, number>();

/** A key keeps its colour as long as the page is open; the ninth looks like the first. */
export function keyColour(keyId: string): string {
  let index = seen.get(keyId);
  if (index === undefined) seen.set(keyId, (index = seen.size));
  return `var(--key-${index % 8})`;
}
