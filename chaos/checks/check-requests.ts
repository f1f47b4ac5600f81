import type { Ledger } from '../load/ledger.js';
import { isOfWorkers } from '../cluster/models-file.js';
import { followedModel } from '../model/followed-jobs.js';
import { nonceOf } from '../model/made.js';
import type { ModelRun, RunLog, Starts } from '../model/run-log.js';
import type { WorkLog, WorkRun } from '../workers/work-log.js';
import { countedAttempt, isDropped, type RequestRow, type StoredState } from './stored-state.js';

/** Checks that every request has one end, and that its rows, attempts and events agree. */
export function checkRequests(stored: StoredState, ledger: Ledger, runs: RunLog, work: WorkLog): void {
  let dropped = 0;
  for (const id of ledger.accepted.keys()) {
    if (isDropped(id, stored)) dropped++;
    else if (!stored.requests.has(id))
      ledger.violate('an accepted request is stored', 'there is no such row', id);
  }
  if (dropped > 0) ledger.count('requests of days that were dropped', dropped);
  for (const [table, rows] of Object.entries(stored.left)) {
    if (rows > 0) ledger.violate('nothing waits or runs in the end', `${table} has ${rows} rows`);
  }
  for (const row of stored.requests.values()) {
    const fail = (rule: string, detail: string): void => ledger.violate(rule, detail, row.id);
    checkEnd(row, fail);
    checkAttempts(row, fail);
    checkOutage(row, fail);
    checkWell(row, fail);
    checkEvents(row, fail);
    checkCalls(row, isOfWorkers(row.modelId) ? work : runs, fail);
    checkOutput(row, runs, work, fail);
    checkSent(row, ledger, fail);
    checkAnswers(row, ledger, fail);
  }
  checkOnce(stored, ledger);
}

type Fail = (rule: string, detail: string) => void;

function checkEnd({ state, outcome }: RequestRow, fail: Fail): void {
  if (state !== 'COMPLETED' || outcome === null)
    fail('every request has one final outcome', `it is ${state}`);
}

function checkAttempts({ attempts, attempt, outcome, failed, lost }: RequestRow, fail: Fail): void {
  const rule = 'the attempts are recorded one by one';
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

/** A model that answers every request well fails none by being away, even if nodes fail with it. */
function checkOutage({ modelId, plan, outcome, code }: RequestRow, fail: Fail): void {
  const isSound = ['chaos/fast', 'chaos/slow', 'chaos/single', 'chaos/impatient'].includes(modelId);
  if (isSound && code === 'model_unavailable') fail('an outage of a model fails no request', code);
  if (modelId === 'chaos/poison') {
    const isPoison = plan?.some((step) => step.do === 'kill') === true;
    if (!isPoison && code === 'model_unavailable')
      fail('an input that breaks its model fails no other request', code);
    if (isPoison && outcome === 'succeeded') fail('an input that breaks its model does not succeed', outcome);
  }
  const isOfOthers = code === 'node_lost' || code === 'model_unavailable';
  if (isOfWorkers(modelId) && isOfOthers) fail('what workers run fails for no node and no address', code);
}

/** Steps that let a request succeed. */
const goodSteps = ['answer', 'lines', 'deltas', 'file', 'block', 'hold'];
/**
 * Codes with which a request may fail although its model does well: the circuit is off, two nodes or workers were lost,
 * or the model had no processor.
 */
const sharedFates = ['model_unavailable', 'node_lost', 'worker_lost', 'timed_out'];

/**
 * A request that its model does well has no other outcome, even if something was broken when the outcome was written.
 */
function checkWell({ modelId, plan, outcome, code, attempts }: RequestRow, fail: Fail): void {
  if (plan === null || !plan.every((step) => goodSteps.includes(step.do))) return;
  if (outcome === 'failed' && !sharedFates.includes(code ?? '')) {
    fail('a request that its model does well does not fail', `${code}`);
  }
  // The worker's library gives up an upload that is refused for long, and fails the attempt.
  if (modelId === 'chaos/drawing') return;
  const failed = attempts.filter((one) => one.outcome === 'failed' && !sharedFates.includes(one.code ?? ''));
  if (failed.length > 0) fail('an attempt that the model does well does not fail', JSON.stringify(failed));
}

function checkEvents({ events, attempt, completedAt }: RequestRow, fail: Fail): void {
  if (events.some(({ kind, at }) => kind !== 'log' && at > (completedAt ?? Infinity))) {
    fail('no event follows the end', JSON.stringify(events.slice(-4)));
  }
  const isInOrder = (at: number): boolean => (events[at - 1]?.attempt ?? 1) <= events[at]!.attempt;
  if (!events.every((event, i) => isInOrder(i) && event.attempt <= attempt)) {
    fail('events are in the order of what happened', JSON.stringify(events));
  }
  const requeued = events.filter(({ kind }) => kind === 'requeued').map((event) => event.attempt);
  // The last attempt ended the request, unless the request was cancelled or expired while it waited.
  if (requeued.some((n, i) => n !== i + 1) || requeued.length < attempt - 1) {
    fail('every requeue has its event', `${attempt} runs, requeued ${requeued.join()}`);
  }
}

function checkCalls({ id, attempt }: RequestRow, starts: Starts, fail: Fail): void {
  const calls = starts.ofRequest(id).length;
  if (calls > attempt) fail('a start calls its model once', `${calls} calls, ${attempt} starts`);
}

function checkOutput(row: RequestRow, runs: RunLog, work: WorkLog, fail: Fail): void {
  // The outputs of the followed model are checked with its runs.
  if (row.outcome !== 'succeeded' || row.modelId === followedModel) return;
  if (row.modelId === 'chaos/echo') {
    if ((row.output as { marker?: string } | null)?.marker === row.marker) return;
    return fail('an echo is the input', JSON.stringify(row.output));
  }
  const run = runOf(row, runs, work);
  const attempt = countedAttempt(row);
  if (run?.requestId === row.id && run.attempt === attempt) return;
  const detail = `attempt ${attempt}: ${JSON.stringify(row.output).slice(0, 300)}`;
  fail('a success was computed by the attempt that holds it', detail);
}

/** Returns the run that made the output. An output that is a file names its run by the file alone. */
function runOf({ id, output }: RequestRow, runs: RunLog, work: WorkLog): ModelRun | WorkRun | undefined {
  const { file } = (output ?? {}) as { file?: { sha256?: string } };
  if (file !== undefined) return runs.ofRequest(id).find((run) => run.file?.sha256 === file.sha256);
  const nonce = nonceOf(output);
  return runs.ofNonce(nonce) ?? work.ofNonce(nonce);
}

/** Every row, acknowledged or not, is what one caller sent. An accepted row is what this caller sent. */
function checkSent(row: RequestRow, ledger: Ledger, fail: Fail): void {
  const sent = ledger.sent.get(row.marker);
  const entry = ledger.accepted.get(row.id) ?? sent;
  if (sent === undefined || entry === undefined) return fail('a stored request was sent', row.marker);
  const { marker, modelId, caller } = entry;
  if (marker === row.marker && modelId === row.modelId && caller.keyId === row.keyId) return;
  const detail = `sent ${marker} to ${modelId} by ${caller.keyId}, stored ${row.marker} to ${row.modelId} by ${row.keyId}`;
  fail('a stored request is what its caller sent', detail);
}

/** One request for each submission. A refused call is sent again under its marker, so it must have left no row. */
function checkOnce({ requests }: StoredState, ledger: Ledger): void {
  const idOfMarker = new Map<string, string>();
  for (const { id, marker } of requests.values()) {
    const other = idOfMarker.get(marker);
    if (other !== undefined) ledger.violate('a submission is stored once', `${marker}: ${other}`, id);
    idOfMarker.set(marker, id);
  }
  const unacknowledged = [...requests.keys()].filter((id) => !ledger.accepted.has(id));
  ledger.count('requests stored but never acknowledged', unacknowledged.length);
}

/** The answers to a caller agree with what is stored. */
function checkAnswers(row: RequestRow, ledger: Ledger, fail: Fail): void {
  const entry = ledger.accepted.get(row.id);
  if (entry === undefined) return;
  const { seenEnd, cancel, output } = entry;
  if (
    seenEnd !== undefined &&
    (seenEnd.success !== (row.outcome === 'succeeded') || seenEnd.code !== row.code)
  ) {
    fail(
      'a caller sees the end that is stored',
      `${JSON.stringify(seenEnd)}, but ${row.outcome} ${row.code}`,
    );
  }
  if (output !== undefined && JSON.stringify(output) !== JSON.stringify(row.output)) {
    fail('a caller gets the output that is stored', JSON.stringify(output));
  }
  if (cancel === 'CANCELLED' && row.outcome !== 'cancelled') {
    fail('what was answered with CANCELLED is cancelled', String(row.outcome));
  }
  if (cancel === 'ALREADY_COMPLETED' && row.outcome === 'cancelled') {
    fail('what was too late to cancel is not cancelled', row.outcome);
  }
}
