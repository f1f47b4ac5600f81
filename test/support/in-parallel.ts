/** Runs `work` for every item, with limited concurrency. Returns the results in the order of the items. */
export async function inParallel<Item, Result>(
  width: number,
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
