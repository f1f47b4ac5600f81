import type { Budget, BudgetKey } from './budget.js';
import type { GrantRequest, ShareRow } from './share-store.js';

/** Of what the whole limit has, a node that shares it takes this part divided by the nodes beyond what waits. */
const prefetchPart = 1 / 4;

export function idOf({ subject, routeClass, policy }: BudgetKey): string {
  return `${routeClass} ${policy} ${subject}`;
}

/** As it is written: what the node holds and has used. */
export function toRow(budget: Budget, now: number): ShareRow {
  budget.expire(now);
  budget.unwritten = 0;
  return {
    key: budget.key,
    shares: budget.windows.map(({ share }) => share),
    used: budget.windows.map(({ used }) => used),
  };
}

/** What the node asks for: what waits, and some more where it shares the limit with others. */
export function toRequest(budget: Budget, nodes: number, now: number): GrantRequest {
  budget.expire(now);
  budget.unwritten = 0;
  const { key, held, windows } = budget;
  const needed = windows.map(({ used, share }) => Math.max(0, used + held.length - share));
  return {
    key,
    limits: windows.map(({ window }) => window.limit),
    windowsMs: windows.map(({ window }) => window.windowMs),
    held: windows.map(({ share }) => share),
    used: windows.map(({ used }) => used),
    needed,
    wanted: windows.map(({ window: { limit }, share, runsLow }, i) => {
      if (nodes === 1) return limit - share;
      if (needed[i] === 0 && !runsLow) return 0;
      return Math.max(Math.ceil(limit / nodes) - share, needed[i]! + Math.ceil((limit * prefetchPart) / nodes));
    }),
  };
}
