import type { Followed, Ledger } from '../load/ledger.js';
import { nonceOf } from '../model/made.js';
import type { RunLog } from '../model/run-log.js';
import type { WorkLog } from '../workers/work-log.js';
import type { RequestRow, StoredState } from './stored-state.js';

/** Log lines are stored once, in order, and sent once by every stream. */
export function checkLogs(stored: StoredState, ledger: Ledger, runs: RunLog, work: WorkLog): void {
  for (const row of stored.requests.values()) {
    checkStored(row, ledger, [...runs.ofRequest(row.id), ...work.ofRequest(row.id)]);
  }
  for (const followed of ledger.followed) {
    const row = stored.requests.get(followed.id);
    if (row === undefined) continue;
    checkIds(followed, ledger);
    if (followed.ended) checkSent(followed, row, ledger);
    else ledger.violate('a stream comes to its end', `opened ${followed.opened} times`, row.id);
  }
}

function checkStored(row: RequestRow, ledger: Ledger, runs: { nonce: string; lines?: number }[]): void {
  const nonce = nonceOf(row.output);
  for (const run of runs) {
    const found = row.events
      .map(({ text }) => /^\S+ runner (\S+) line (\d+)$/.exec(text ?? ''))
      .filter((match) => match?.[1] === run.nonce)
      .map((match) => Number(match![2]));
    if (found.some((line, i) => line !== i)) {
      ledger.violate('log lines are stored once and in order', `${run.nonce}: ${found.join()}`, row.id);
    }
    if (nonce === run.nonce && found.length !== run.lines) {
      const detail = `${run.nonce}: ${found.length} of ${run.lines}`;
      ledger.violate('a success has every line of its log', detail, row.id);
    }
  }
}

function checkIds({ id, events }: Followed, ledger: Ledger): void {
  for (const [i, event] of events.entries()) {
    const before = events[i - 1];
    if (before === undefined) continue;
    // A changed position or estimate is no event of the request, and a new connection begins with the known state: all
    // of these repeat the id of the last event.
    const isEstimate = event.status === before.status && event.logs.length === 0;
    const mayRepeat = event.status === 'IN_QUEUE' || isEstimate || event.connection > before.connection;
    const sound = event.id > before.id || (event.id === before.id && mayRepeat);
    if (sound) continue;
    ledger.violate('ids ascend on a stream', JSON.stringify(events.slice(Math.max(0, i - 2), i + 1)), id);
    return;
  }
}

function checkSent({ events, opened }: Followed, row: RequestRow, ledger: Ledger): void {
  const sent = events.flatMap(({ logs }) => logs);
  const found = row.events.flatMap(({ text }) => text ?? []);
  if (sent.join('\n') === found.join('\n')) return;
  const missing = found.filter((line) => !sent.includes(line));
  const twice = sent.filter(
    (line, i) => sent.indexOf(line) !== i && found.indexOf(line) === found.lastIndexOf(line),
  );
  const detail = {
    opened,
    missing,
    twice,
    events: events.map(({ id, status, logs }) => `${id} ${status} ${logs.length}`),
  };
  ledger.violate('a stream sends every log entry once', JSON.stringify(detail), row.id);
}
