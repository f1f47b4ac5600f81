/**
 * Derives the colour from the id, so that a key has the same colour in every tab, on every day. With many keys, some
 * share a colour.
 */
export function keyColour(keyId: string): string {
  let hash = 0;
  for (let i = 0; i < keyId.length; i++) hash = (Math.imul(hash, 31) + keyId.charCodeAt(i)) >>> 0;
  return `var(--key-${(hash ^ (hash >>> 15)) & 7})`;
}
