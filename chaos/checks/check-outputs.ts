import type { FollowedOutput, Ledger, OutputEvent } from '../load/ledger.js';
import { deltaOf, joinedDeltas, nonceOf } from '../model/made.js';
import { countedAttempt, stepOf, type RequestRow, type StoredState } from './stored-state.js';

/** The deltas add up to the output, and every stream shows them without a gap and without a repetition. */
export function checkOutputs(stored: StoredState, ledger: Ledger): void {
  for (const row of stored.requests.values()) checkWhole(row, ledger);
  for (const followed of ledger.followedOutputs) {
    const row = stored.requests.get(followed.id);
    if (row === undefined) continue;
    if (followed.ended) checkFollowed(followed, row, ledger);
    else ledger.violate('a stream of an output comes to its end', `opened ${followed.opened} times`, row.id);
  }
  const events = ledger.followedOutputs.flatMap((followed) => followed.events);
  ledger.count('streams of outputs opened', sum(ledger.followedOutputs.map(({ opened }) => opened)));
  ledger.count('parts of outputs seen', events.filter(({ say }) => say === 'output').length);
  ledger.count('outputs seen to begin anew', events.filter(({ say }) => say === 'reset').length);
}

/** An output made of deltas has every delta, in order. */
function checkWhole(row: RequestRow, ledger: Ledger): void {
  const step = stepOf(row, countedAttempt(row));
  if (row.outcome !== 'succeeded' || step?.do !== 'deltas' || step.whole) return;
  const nonce = nonceOf(row.output);
  const said = Array.from({ length: step.deltas }, (_, i) => deltaOf(nonce, i, step.kind));
  if (isSame(row.output, joinedDeltas(said))) return;
  const detail = `${step.deltas} ${step.kind}: ${JSON.stringify(row.output).slice(0, 500)}`;
  ledger.violate('an output has every delta, once and in order', detail, row.id);
}

function checkFollowed({ events, opened }: FollowedOutput, row: RequestRow, ledger: Ledger): void {
  const fail = (rule: string, detail: object): void =>
    ledger.violate(rule, JSON.stringify({ opened, ...detail }), row.id);
  let next = 0;
  let parts: unknown[] = [];
  let attempt = 0;
  for (const [i, event] of events.entries()) {
    const around = { events: events.slice(Math.max(0, i - 2), i + 2) };
    if (event.say === 'reset') {
      // A run that follows a handed-back run has the same attempt number.
      if (!(event.attempt! >= attempt)) fail('an output begins anew with a later attempt', around);
      next = 0;
      parts = [];
      attempt = event.attempt!;
    } else if (event.say === 'output') {
      if (event.index !== next) fail('a stream of an output has no gap and no repetition', around);
      next = event.index! + 1;
      // The single deltas are no longer kept, so the event shows the whole list.
      if (event.id.endsWith('whole') && Array.isArray(event.delta)) parts.push(...(event.delta as unknown[]));
      else parts.push(event.delta);
    } else checkDone(event, i === events.length - 1);
  }

  function checkDone({ success }: OutputEvent, isLast: boolean): void {
    const isSuccess = row.outcome === 'succeeded';
    if (success !== isSuccess || !isLast) {
      fail('a stream of an output ends as its request', { success, outcome: row.outcome, isLast });
    }
    const step = stepOf(row, countedAttempt(row));
    const isOfDeltas = step?.do === 'deltas' && !step.whole;
    if (isSuccess && isOfDeltas && !isSame(joinedDeltas(parts), row.output)) {
      const shown = JSON.stringify(parts).slice(0, 400);
      const stored = JSON.stringify(row.output).slice(0, 400);
      fail('what a stream of an output showed is the output', { shown, stored });
    }
  }
}

/** Both sides are joined first, so it does not matter which texts the service joined. */
function isSame(shown: unknown, stored: unknown): boolean {
  return JSON.stringify(shown) === JSON.stringify(stored);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
