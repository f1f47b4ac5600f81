/** A heap whose lowest item is first. */
export class Heap {
  /** @param {(a: any, b: any) => boolean} isBefore */
  constructor(isBefore) {
    this.isBefore = isBefore;
    this.items = [];
  }

  get size() {
    return this.items.length;
  }

  get first() {
    return this.items[0];
  }

  push(item) {
    const { items, isBefore } = this;
    let at = items.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(item, items[parent])) break;
      items[at] = items[parent];
      at = parent;
    }
    items[at] = item;
  }

  /** @param {(item: any) => boolean} isKept */
  keep(isKept) {
    const kept = this.items.filter(isKept);
    this.items = [];
    for (const item of kept) this.push(item);
  }

  pop() {
    const { items, isBefore } = this;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1], items[child])) child++;
      if (!isBefore(items[child], last)) break;
      items[at] = items[child];
      at = child;
    }
    items[at] = last;
    return first;
  }
}
