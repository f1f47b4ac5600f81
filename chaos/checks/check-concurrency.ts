import type { Span } from '../clock.js';
import type { ServiceNode } from '../cluster/service-node.js';
import type { GrantHistory } from '../cluster/grant-history.js';
import { groups, models } from '../cluster/models-file.js';
import type { BusySpells } from '../load/busy-spells.js';
import type { Ledger } from '../load/ledger.js';
import type { ModelRun, RunLog } from '../model/run-log.js';
import type { StoredState } from './stored-state.js';

/** No node is given up sooner than this after it was frozen: 6 s of silence, less one interval of heartbeats. */
const soonestGivenUpMs = 4_000;
/**
 * The model sees the end of an aborted run on one connection and the next run on another, so it may see the end this
 * much later.
 */
const unheardMs = 25;
/** A node that wakes compares the clock every 250 ms, and then closes its connections. */
const wakingMs = 1_000;

export interface Peak {
  modelId: string;
  limit: number;
  peak: number;
}

/**
 * Checks the count of the models themselves. A run counts from the call to the end of its connection, except while its
 * node is frozen and so cannot close the connection of a run that it has lost.
 */
export function checkConcurrency(
  runs: RunLog,
  nodes: readonly ServiceNode[],
  grants: GrantHistory,
  spells: BusySpells,
  ledger: Ledger,
): Peak[] {
  const ofModels = models
    .filter(({ kind }) => kind === undefined)
    .map(({ id, group, concurrency = groups[group ?? '']?.concurrency ?? Infinity }) => ({
      id,
      concurrency,
      members: [id],
    }));
  const ofGroups = Object.entries(groups).map(([id, { concurrency }]) => ({
    id,
    concurrency,
    members: models.flatMap((model) => (model.group === id ? model.id : [])),
  }));
  return [...ofModels, ...ofGroups].map(({ id, concurrency, members }) => {
    const counted = runs.runs.filter(({ modelId }) => members.includes(modelId));
    const spans = counted.flatMap((run) => countedSpans(run, nodes, grants, spells));
    const { peak, at: those } = maxAtOnce(spans);
    const at = those.map(({ run }) => run);
    if (peak > concurrency) {
      const granted = grants.before(Math.max(...at.map(({ startedAt }) => startedAt)), members);
      const there = at.map(
        ({ requestId, attempt, node, startedAt, endedAt, answered }) =>
          `${requestId} attempt ${attempt} on ${node}, ${startedAt.toFixed(1)} to ${endedAt.toFixed(1)}, ${answered ? 'answered' : 'broken off'}`,
      );
      ledger.violate(
        'concurrency is never exceeded',
        `${id}: ${peak} of ${concurrency}: ${there.join('; ')}; granted: ${granted}`,
      );
    }
    return { modelId: id, limit: concurrency, peak };
  });
}

/** For models of workers the leases are counted, because nothing can stop a worker that goes on without its lease. */
export function checkLeases({ requests }: StoredState, ledger: Ledger): Peak[] {
  return models
    .filter(({ kind }) => kind === 'worker')
    .map(({ id, concurrency = Infinity }) => {
      const leases = [...requests.values()]
        .filter(({ modelId }) => modelId === id)
        .flatMap((row) => row.attempts.map((one) => ({ ...one, id: row.id })))
        .map((one) => ({ ...one, from: one.startedAt, to: one.endedAt }));
      const { peak, at } = maxAtOnce(leases);
      if (peak > concurrency) {
        const there = at.map(
          ({ id: requestId, attempt, worker, outcome, from, to }) =>
            `${requestId} attempt ${attempt} of ${worker}, ${from.toFixed(1)} to ${to.toFixed(1)}, ${outcome}`,
        );
        const detail = `${id}: ${peak} of ${concurrency}: ${there.join('; ')}`;
        ledger.violate('leases of workers never exceed the concurrency', detail);
      }
      return { modelId: id, limit: concurrency, peak };
    });
}

interface CountedSpan extends Span {
  run: ModelRun;
}

function countedSpans(
  run: ModelRun,
  nodes: readonly ServiceNode[],
  grants: GrantHistory,
  spells: BusySpells,
): CountedSpan[] {
  const endedAt = run.answered ? run.endedAt : Math.min(run.endedAt - unheardMs, spells.since(run.endedAt));
  let spans = [{ from: run.startedAt, to: Math.max(run.startedAt, endedAt), run }];
  const freezes = nodes.find(({ name }) => name === run.node)?.freezes ?? [];
  for (const freeze of freezes) {
    // Earlier if the node was cut off before it was frozen.
    const from = Math.min(freeze.from + soonestGivenUpMs, grants.givenUpAt(run.node, freeze));
    const to = freeze.to + wakingMs;
    if (freeze.to < from) continue;
    spans = spans.flatMap((span) => [
      { ...span, to: Math.min(span.to, from) },
      { ...span, from: Math.max(span.from, to) },
    ]);
  }
  return spans.filter(({ from, to }) => from < to);
}

function maxAtOnce<T extends Span>(spans: readonly T[]): { peak: number; at: T[] } {
  const changes = spans
    .flatMap((span) => [
      { at: span.from, span, enters: true },
      { at: span.to, span, enters: false },
    ])
    .sort((a, b) => a.at - b.at || Number(a.enters) - Number(b.enters));
  const active = new Set<T>();
  let peak = 0;
  let at: T[] = [];
  for (const { span, enters } of changes) {
    if (enters) active.add(span);
    else active.delete(span);
    if (active.size <= peak) continue;
    peak = active.size;
    at = [...active];
  }
  return { peak, at };
}
