const maxValues = 2_000;

/** Whether a JSON value has so few values within it that a complaint about each of them does no harm. */
export function isSmall(input: unknown): boolean {
  const open: unknown[] = [input];
  for (let seen = 0; open.length > 0; seen += 1) {
    if (seen + open.length > maxValues) return false;
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
    if (children.length > maxValues) return false;
    open.push(...children);
  }
  return true;
}
