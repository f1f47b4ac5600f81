import type { Ledger } from '../load/ledger.js';
import type { RunBook } from '../model/run-book.js';
import type { Books, RequestRow } from './books.js';

/** Every request has one end, and its rows, attempts and events tell the same story. */
export function checkRequests(books: Books, ledger: Ledger, runs: RunBook): void {
  for (const id of ledger.accepted.keys()) {
    if (!books.requests.has(id)) ledger.violate('an accepted request is kept', 'there is no such row', id);
  }
  for (const [table, rows] of Object.entries(books.left)) {
    if (rows > 0) ledger.violate('nothing waits or runs in the end', `${table} has ${rows} rows`);
  }
  for (const row of books.requests.values()) {
    const fail = (rule: string, detail: string): void => ledger.violate(rule, detail, row.id);
    checkEnd(row, fail);
    checkAttempts(row, fail);
    checkEvents(row, fail);
    checkOutput(row, runs, fail);
    checkCaller(row, ledger, fail);
  }
}

type Fail = (rule: string, detail: string) => void;

function checkEnd({ state, outcome }: RequestRow, fail: Fail): void {
  if (state !== 'COMPLETED' || outcome === null)
    fail('every request has one final outcome', `it is ${state}`);
}

function checkAttempts({ attempts, attempt, outcome, failed, lost }: RequestRow, fail: Fail): void {
  const rule = 'the attempts are told one by one';
  if (attempts.length !== attempt || attempts.some((one, i) => one.attempt !== i + 1)) {
    fail(rule, `${attempt} runs, attempts ${attempts.map((one) => one.attempt).join()}`);
  }
  if (attempts.some((one, i) => i > 0 && one.startedAt < attempts[i - 1]!.endedAt)) {
    fail('an attempt starts when the one before has ended', JSON.stringify(attempts));
  }
  const count = (...outcomes: string[]): number =>
    attempts.filter((one) => outcomes.includes(one.outcome)).length;
  if (count('failed', 'timed_out') !== failed || count('lost') !== lost) {
    fail(rule, `failed ${failed}, lost ${lost}: ${attempts.map((one) => one.outcome).join()}`);
  }
  const succeeded = count('succeeded');
  const lastSucceeded = attempts.at(-1)?.outcome === 'succeeded';
  if (succeeded !== (outcome === 'succeeded' ? 1 : 0) || lastSucceeded !== (outcome === 'succeeded')) {
    fail(
      'a success is the last attempt, and only it',
      `${outcome}: ${attempts.map((a) => a.outcome).join()}`,
    );
  }
}

function checkEvents({ events, attempt, state }: RequestRow, fail: Fail): void {
  const completed = events.filter(({ kind }) => kind === 'completed');
  if (state === 'COMPLETED' && completed.length !== 1) {
    fail('a request completes once', `${completed.length} events say so`);
  }
  if (completed.length > 0 && events.at(-1) !== completed.at(-1)) {
    fail('no event follows the final one', JSON.stringify(events.slice(-4)));
  }
  const started = events.filter(({ kind }) => kind === 'started').map((event) => event.attempt);
  if (started.length !== attempt || started.some((n, i) => n !== i + 1)) {
    fail('every run is told as an event', `${attempt} runs, started ${started.join()}`);
  }
  let running = 0;
  for (const event of events) {
    if (event.kind === 'started') running = event.attempt;
    else if (event.attempt !== running) {
      fail('events are in the order of what happened', JSON.stringify(event));
      break;
    }
  }
}

function checkOutput(row: RequestRow, runs: RunBook, fail: Fail): void {
  if (row.outcome !== 'succeeded') return;
  const run = runs.ofNonce(row.output?.nonce ?? '');
  const sound =
    run !== undefined &&
    run.requestId === row.id &&
    run.attempt === row.attempt &&
    row.output!.attempt === row.attempt;
  if (!sound) {
    fail(
      'a success was computed by the attempt that holds it',
      `attempt ${row.attempt}: ${JSON.stringify(row.output)}`,
    );
  }
}

/** What its caller was told is what the books say. */
function checkCaller(row: RequestRow, ledger: Ledger, fail: Fail): void {
  const entry = ledger.accepted.get(row.id);
  if (entry === undefined) return;
  const { seenEnd, cancel, output } = entry;
  if (
    seenEnd !== undefined &&
    (seenEnd.success !== (row.outcome === 'succeeded') || seenEnd.code !== row.code)
  ) {
    fail(
      'a caller sees the end that the books have',
      `${JSON.stringify(seenEnd)}, but ${row.outcome} ${row.code}`,
    );
  }
  if (output !== undefined && JSON.stringify(output) !== JSON.stringify(row.output)) {
    fail('a caller gets the output that the books have', JSON.stringify(output));
  }
  if (cancel === 'CANCELLED' && row.outcome !== 'cancelled') {
    fail('what was answered with CANCELLED is cancelled', String(row.outcome));
  }
  if (cancel === 'ALREADY_COMPLETED' && row.outcome === 'cancelled') {
    fail('what was too late to cancel is not cancelled', row.outcome);
  }
}
