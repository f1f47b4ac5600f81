import type { Followed, Ledger } from '../load/ledger.js';
import type { RunBook } from '../model/run-book.js';
import type { Books, RequestRow } from './books.js';

/** Log lines are kept once, in order, and carried once by every stream. */
export function checkLogs(books: Books, ledger: Ledger, runs: RunBook): void {
  for (const row of books.requests.values()) checkKept(row, ledger, runs);
  for (const followed of ledger.followed) {
    const row = books.requests.get(followed.id);
    if (row === undefined) continue;
    checkIds(followed, ledger);
    if (followed.ended) checkCarried(followed, row, ledger);
    else ledger.violate('a stream comes to its end', `opened ${followed.opened} times`, row.id);
  }
}

function checkKept(row: RequestRow, ledger: Ledger, runs: RunBook): void {
  for (const run of runs.ofRequest(row.id)) {
    const kept = row.events
      .map(({ text }) => /^\S+ runner (\S+) line (\d+)$/.exec(text ?? ''))
      .filter((match) => match?.[1] === run.nonce)
      .map((match) => Number(match![2]));
    if (kept.some((line, i) => line !== i)) {
      ledger.violate('log lines are kept once and in order', `${run.nonce}: ${kept.join()}`, row.id);
    }
    if (row.output?.nonce === run.nonce && kept.length !== run.lines) {
      const detail = `${run.nonce}: ${kept.length} of ${run.lines}`;
      ledger.violate('a success has every line of its log', detail, row.id);
    }
  }
}

function checkIds({ id, events }: Followed, ledger: Ledger): void {
  for (const [i, event] of events.entries()) {
    const before = events[i - 1];
    if (before === undefined) continue;
    // A changed position is no event of the request, and a new connection begins with what is known:
    // both repeat the id of the last event.
    const mayRepeat = event.status === 'IN_QUEUE' || event.connection > before.connection;
    const sound = event.id > before.id || (event.id === before.id && mayRepeat);
    if (sound) continue;
    ledger.violate('ids ascend on a stream', JSON.stringify(events.slice(Math.max(0, i - 2), i + 1)), id);
    return;
  }
}

function checkCarried({ events, opened }: Followed, row: RequestRow, ledger: Ledger): void {
  const carried = events.flatMap(({ logs }) => logs);
  const kept = row.events.flatMap(({ text }) => text ?? []);
  if (carried.join('\n') === kept.join('\n')) return;
  const missing = kept.filter((line) => !carried.includes(line));
  const twice = carried.filter(
    (line, i) => carried.indexOf(line) !== i && kept.indexOf(line) === kept.lastIndexOf(line),
  );
  const detail = {
    opened,
    missing,
    twice,
    events: events.map(({ id, status, logs }) => `${id} ${status} ${logs.length}`),
  };
  ledger.violate('a stream carries every log entry once', JSON.stringify(detail), row.id);
}
