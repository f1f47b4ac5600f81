import { Fleet } from './fleet.js';
import { Random } from './random.js';

/** How often the estimate of a waiting request is read. */
const lookEveryMs = 5_000;
/** How often nodes exchange their run times. */
const shareEveryMs = 10_000;

/** Compares the estimates of waiting requests with their real waits. */
class Looks {
  constructor() {
    this.all = [];
    this.absent = 0;
  }

  started(request, now) {
    const looks = request.looks ?? [];
    for (const { at, start, plainMs } of looks) {
      const waitedMs = Math.max(1, now - at);
      const off = (estimateMs) => Math.abs(estimateMs - waitedMs) / waitedMs;
      this.all.push({
        // Each request has the same weight, however long it waited.
        weight: 1 / looks.length,
        holds: start.from <= waitedMs && waitedMs <= start.to,
        error: off((start.from + start.to) / 2),
        plain: off(plainMs),
        width: (start.to - start.from) / waitedMs,
      });
    }
  }

  ended({ looks = [] }, now) {
    for (const { at, end } of looks)
      this.all.push({ weight: 1 / looks.length, holdsEnd: end.from <= now - at && now - at <= end.to });
  }

  part(figure) {
    const known = this.all.filter((look) => look[figure] !== undefined);
    const sum = (looks) => looks.reduce((total, { weight }) => total + weight, 0);
    return sum(known.filter((look) => look[figure])) / sum(known);
  }

  median(figure) {
    const sorted = this.all
      .filter((look) => look[figure] !== undefined)
      .sort((a, b) => a[figure] - b[figure]);
    let left = sorted.reduce((sum, { weight }) => sum + weight, 0) / 2;
    return sorted.find(({ weight }) => (left -= weight) <= 0)?.[figure];
  }
}

/**
 * Plays an hour of a workload. Some waiting requests are estimated, each by the node that took it.
 * @param {import('./fleet.js').Order} product its order and its estimates
 */
export function judgeEstimates(product, workload, { seed, untilMs = 3_600_000 }) {
  const { slots, every = 3 } = workload;
  const random = new Random(seed);
  const fleet = new Fleet({ order: product, random, slots });
  const { agenda, modelId } = fleet;
  const looks = new Looks();
  const waiting = new Set();
  const estimatesOf = new Map(fleet.nodes.map((node) => [node, new product.ModelEstimates(slots)]));
  const spanOf = (node, priority) => node.index.span(modelId, priority);

  fleet.onChanges = (node, { added = [], started = [] }) => {
    const estimates = estimatesOf.get(node);
    if (added.length > 0) {
      const { priority } = added[0];
      const starts = added.map(({ start }) => start);
      estimates.added(priority, starts, spanOf(node, priority), agenda.now);
    }
    for (const { priority } of started) {
      estimates.runBegan(agenda.now);
      estimates.left(priority, spanOf(node, priority), agenda.now);
    }
  };
  let count = 0;
  fleet.onWritten = (requests, node) => {
    for (const request of requests) if (count++ % every === 0) waiting.add(Object.assign(request, { node }));
  };
  fleet.onCancelled = (requests) => requests.forEach((request) => waiting.delete(request));
  fleet.onStart = (request) => {
    for (const look of fleet.whenStarted) look(request);
    if (waiting.delete(request)) looks.started(request, agenda.now);
  };

  const unshared = new Map(fleet.nodes.map((node) => [node, []]));
  fleet.onEnd = (request, node) => {
    looks.ended(request, agenda.now);
    const runMs = agenda.now - request.startedAt;
    estimatesOf.get(node).runTimes.add(runMs);
    unshared.get(node).push(runMs);
  };
  const share = () => {
    for (const [node, times] of unshared) {
      const ended = times.splice(0);
      for (const [other, { runTimes }] of estimatesOf)
        if (other !== node) for (const ms of ended) runTimes.add(ms);
    }
    agenda.in(shareEveryMs, share);
  };
  share();

  const look = () => {
    for (const request of fleet.isAway ? [] : waiting) {
      const { node, priority, start, seq } = request;
      const estimates = estimatesOf.get(node);
      const position = node.index.position({ modelId, priority, start, seq });
      const place = { position, priority, start };
      const startIn = estimates.startIn(place, spanOf(node, priority), agenda.now);
      const plainMs = (position * estimates.runTimes.meanMs) / slots;
      if (startIn === undefined) looks.absent++;
      else
        (request.looks ??= []).push({
          at: agenda.now,
          start: startIn,
          end: estimates.endIn(startIn),
          plainMs,
        });
    }
    agenda.in(lookEveryMs * random.between(0.5, 1.5), look);
  };
  look();
  workload.play({ fleet, random });
  agenda.run(untilMs);
  return {
    looks: looks.all.filter(({ holds }) => holds !== undefined).length,
    absent: looks.absent,
    holds: looks.part('holds'),
    holdsEnd: looks.part('holdsEnd'),
    error: looks.median('error'),
    plain: looks.median('plain'),
    width: looks.median('width'),
  };
}
