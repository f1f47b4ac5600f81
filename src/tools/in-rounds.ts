/**
 * Writes items in rounds, and returns one result per item, in order. A round has at most one item of each key, because
 * two could not share a statement.
 */
export async function inRounds<Item, Result>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  write: (items: Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results = new Map<Item, Result>();
  for (let left = items; left.length > 0; left = left.filter((item) => !results.has(item))) {
    const taken = new Set<string>();
    const once = left.filter((item) => !taken.has(keyOf(item)) && taken.add(keyOf(item)));
    const written = await write(once);
    for (const [i, item] of once.entries()) results.set(item, written[i]!);
  }
  return items.map((item) => results.get(item)!);
}
