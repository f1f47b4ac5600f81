/** By its id alone: a key has its colour in every tab, on every day. Of many keys some look alike. */
export function keyColour(keyId: string): string {
  let hash = 0;
  for (let i = 0; i < keyId.length; i++) hash = (Math.imul(hash, 31) + keyId.charCodeAt(i)) >>> 0;
  return `var(--key-${(hash ^ (hash >>> 15)) & 7})`;
}
