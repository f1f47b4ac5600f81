const oldestKept = 22;

/** Returns what the operator has to do about this version of Node before the next minor release, if anything. */
export function warningOfNode(version: string): string | undefined {
  const major = Number.parseInt(version);
  if (major >= oldestKept) return undefined;
  return `Node ${major} gets no more fixes, and the next minor release needs Node ${oldestKept} or newer. Install Node 24 before you update.`;
}
