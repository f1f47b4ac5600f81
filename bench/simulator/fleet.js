import { Heap } from './heap.js';
import { Agenda } from './agenda.js';

const modelId = 'simulated/model';

/** Compares in the order of the table's key. */
const isBefore = (a, b) =>
  a.priority < b.priority ||
  (a.priority === b.priority && (a.start < b.start || (a.start === b.start && a.seq < b.seq)));

/** The waiting requests in the database. A claim takes the front, whatever the nodes know of it. */
class WaitingTable {
  constructor() {
    this.heap = new Heap(isBefore);
    /** Entries by seq; the heap may still contain entries that are not here. */
    this.entries = new Map();
  }

  get waiting() {
    return this.entries.size;
  }

  has(request) {
    return this.entries.has(request.seq);
  }

  add(request) {
    const { priority, start, seq } = request;
    const entry = { priority, start, seq, request };
    this.entries.set(seq, entry);
    this.heap.push(entry);
  }

  remove({ seq }) {
    this.entries.delete(seq);
    if (this.heap.size > 2 * this.waiting + 1_000) this.heap.keep((entry) => this.isThere(entry));
  }

  isThere(entry) {
    return this.entries.get(entry.seq) === entry;
  }

  of(key) {
    return [...this.entries.values()].map(({ request }) => request).filter((request) => request.key === key);
  }

  takeFirst() {
    while (this.heap.size > 0) {
      const entry = this.heap.pop();
      if (!this.isThere(entry)) continue;
      this.remove(entry);
      return entry.request;
    }
    return undefined;
  }
}

class Node {
  constructor(fleet, number) {
    this.fleet = fleet;
    this.number = number;
    this.index = new fleet.order.WaitingIndex();
    this.slots = 0;
    this.running = new Set();
    /** Times at which the last message to each other node arrives, because messages stay in their order. */
    this.arrivals = [];
  }

  publish(changes) {
    this.apply(changes);
    const { agenda, random, lateMs } = this.fleet;
    for (const other of this.fleet.nodes) {
      if (other === this) continue;
      const at = agenda.now + random.between(...lateMs);
      this.arrivals[other.number] = Math.max(at, this.arrivals[other.number] ?? 0);
      agenda.in(this.arrivals[other.number] - agenda.now, () => {
        other.apply(changes);
        if (changes.added !== undefined) other.claim();
      });
    }
  }

  apply(changes) {
    for (const change of changes.removed ?? []) this.index.remove(change);
    for (const change of changes.started ?? []) this.index.remove(change, true);
    for (const change of changes.added ?? []) this.index.add(change);
    this.fleet.onChanges?.(this, changes);
  }

  claim() {
    const { fleet } = this;
    const started = [];
    while (!fleet.isAway && this.running.size < this.slots) {
      const request = fleet.table.takeFirst();
      if (request === undefined) break;
      started.push(changeOf(request));
      this.run(request);
    }
    if (started.length > 0) this.publish({ started });
  }

  run(request) {
    const { fleet } = this;
    this.running.add(request);
    request.attempt++;
    const { attempt } = request;
    request.startedAt = fleet.agenda.now;
    fleet.starts++;
    fleet.onStart?.(request, this);
    fleet.agenda.in(request.runMs, () => {
      if (request.attempt !== attempt || !this.running.delete(request)) return;
      fleet.onEnd?.(request, this);
      this.claim();
    });
  }

  /** The model is away, so the requests of the runs return to their places. */
  giveBack() {
    const returned = [...this.running];
    this.running.clear();
    for (const request of returned) this.fleet.table.add(request);
    if (returned.length > 0) this.publish({ added: returned.map(changeOf) });
  }
}

function changeOf({ priority, start, seq, attempt, key, ticks }) {
  return { modelId, priority, start, seq, attempt, orderKey: ticks > 0 ? key : 0 };
}

/**
 * @typedef {object} Order
 * @property {new () => any} WaitingIndex
 * @property {(order: any, weight: number) => number} ticksFor
 */

/** Nodes that share a queue. Each has the product's own waiting index, and messages between them are late. */
export class Fleet {
  /**
   * @param {object} options
   * the product's order
   * @param {import('./random.js').Random} options.random
   * @param {number} options.slots
   * @param {number} [options.nodes]
   * @param {[number, number]} [options.lateMs] how long a message takes
   * @param {[number, number]} [options.writeMs] how long a submission takes
   */
  constructor({ order, random, slots, nodes = 3, lateMs = [25, 250], writeMs = [1, 8] }) {
    this.order = order;
    this.random = random;
    this.lateMs = lateMs;
    this.writeMs = writeMs;
    this.agenda = new Agenda();
    this.table = new WaitingTable();
    this.nodes = Array.from({ length: nodes }, (_, number) => new Node(this, number));
    for (let slot = 0; slot < slots; slot++) this.nodes[slot % nodes].slots++;
    this.slots = slots;
    this.seq = 0;
    this.starts = 0;
    this.isAway = false;
    /** @type {((request: any) => void)[]} */
    this.whenStarted = [];
  }

  get modelId() {
    return modelId;
  }

  anyNode() {
    return this.nodes[this.random.below(this.nodes.length)];
  }

  /**
   * Submits one request or a batch. Each request gets its place before it is written, and its seq when it is written.
   * @param {object} of
   * @param {number} of.key above 0
   * @param {() => number} of.runMs
   */
  submit({
    key,
    runMs,
    count = 1,
    weight = 1,
    priority = 0,
    order = 'fair',
    node = this.anyNode(),
    written,
  }) {
    const ticks = this.order.ticksFor(order, weight);
    const isIdle = count === 1 && node.index.depth(modelId) === 0 && node.running.size < node.slots;
    if (isIdle && this.table.waiting === 0 && !this.isAway) {
      const start = node.index.virtualTime(modelId, priority);
      const request = { key, priority, start, ticks, seq: ++this.seq, attempt: 0, runMs: runMs() };
      request.isImmediate = true;
      return node.run(request);
    }
    const requests = Array.from({ length: count }, () => ({
      key,
      priority,
      ticks,
      node,
      seq: 0,
      attempt: 0,
      startedAt: undefined,
      runMs: runMs(),
      start: node.index.reserve(modelId, priority, key, ticks),
    }));
    this.agenda.in(this.random.between(...this.writeMs), () => {
      for (const request of requests) {
        request.seq = ++this.seq;
        request.writtenAt = this.agenda.now;
        this.table.add(request);
      }
      this.onWritten?.(requests, node);
      node.publish({ added: requests.map(changeOf) });
      if (ticks > 0) for (const { start } of requests) node.index.settle(modelId, priority, key, start);
      written?.(requests);
      node.claim();
    });
    return undefined;
  }

  /** Cancels those of the requests that still wait. */
  cancel(requests, node = this.anyNode()) {
    const waiting = requests.filter((request) => this.table.has(request));
    for (const request of waiting) this.table.remove(request);
    this.onCancelled?.(waiting);
    if (waiting.length > 0) node.publish({ removed: waiting.map(changeOf) });
  }

  /** Makes the model unavailable: nothing starts until `find`. */
  lose() {
    this.isAway = true;
    for (const node of this.nodes) node.giveBack();
  }

  find() {
    this.isAway = false;
    for (const node of this.nodes) node.claim();
  }
}
