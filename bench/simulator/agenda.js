import { Heap } from './heap.js';

/** Virtual time: runs actions one after the other, each at its time. */
export class Agenda {
  constructor() {
    this.now = 0;
    this.count = 0;
    this.events = new Heap((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  }

  /**
   * @param {number} ms from now
   * @param {() => void} act
   */
  in(ms, act) {
    this.events.push({ at: this.now + ms, order: this.count++, act });
  }

  /** @param {number} untilMs */
  run(untilMs) {
    while (this.events.size > 0 && this.events.first.at <= untilMs) {
      const { at, act } = this.events.pop();
      this.now = at;
      act();
    }
    this.now = untilMs;
  }
}
