import type { AdminModel, AdminRequest, RequestEvent } from '../api/types';
import { counted, duration } from '../format/quantities';
import { time } from '../format/times';

export interface Told {
  /** `held_at`: the bound of its key on concurrent runs, if it is reached. */
  request: AdminRequest & { held_at?: number };
  events: readonly RequestEvent[];
  /** The state of its model, if known. */
  model?: AdminModel | undefined;
  /** The model is no longer in models.yaml. */
  isModelGone?: boolean;
  now: number;
}

/** Returns one or two sentences: why a request waits, where it runs, or how it ended. */
export function sentenceOf(told: Told): string {
  if (told.request.status === 'IN_QUEUE') return waiting(told);
  if (told.request.status === 'IN_PROGRESS') return running(told);
  return completed(told);
}

const ms = (at: string): number => new Date(at).getTime();
const runsOf = (events: readonly RequestEvent[]): RequestEvent[] =>
  events.filter(({ kind }) => kind === 'started');
/** Returns the event that ended the previous run, if there was one. */
const lastEnd = (events: readonly RequestEvent[]): RequestEvent | undefined =>
  events.findLast(({ kind, outcome }) => kind === 'requeued' && outcome !== null);

function waiting({ request, events, model, isModelGone = false, now }: Told): string {
  const { model_id: id, queue_position: position = 0 } = request;
  const before =
    position === 0
      ? 'It is first in the queue'
      : `${counted(position, 'request is', 'requests are')} ahead of it`;
  if (isModelGone)
    return `It waits for ${id}, which is no longer in models.yaml. It starts when the model is added again. You can also cancel it.`;
  switch (request.reason) {
    case 'scheduled': {
      const at = request.scheduled_at;
      return at === undefined
        ? 'It is scheduled for later, and joins the queue then.'
        : `It is scheduled: it joins the queue at ${time(at, now)}, in ${duration(ms(at) - now)}.`;
    }
    case 'retrying': {
      const end = lastEnd(events);
      const until = end?.until ? `until ${time(end.until, now)} ` : '';
      return `It waits ${until}before attempt ${request.attempt}${end === undefined ? '' : `: ${failure(end)}`}.`;
    }
    case 'unavailable': {
      const since = model?.unavailable_since;
      const is = since ? 'has been' : 'is';
      const from = since ? ` since ${time(since, now)}` : '';
      if (model?.kind === 'worker')
        return `It waits for a worker: none ${is} available for ${id}${from}. ${before}; nothing is lost.`;
      const why = model?.unavailable_reason ? ` (${trimEnd(model.unavailable_reason)})` : '';
      return `It waits for ${id}, which ${is} unreachable${from}${why}. ${before}; nothing is lost.`;
    }
    case 'paused': {
      const { overridden_by: by, overridden_at: at } = model?.paused ?? {};
      const who = `${by ? ` by ${by}` : ''}${at ? ` at ${time(at, now)}` : ''}`;
      return `It waits because ${id} was paused${who}. ${before}, and it keeps its place.`;
    }
    default: {
      if (request.held_at !== undefined) {
        const { held_at: bound, key } = request;
        return `It waits because its key${key.name === null ? '' : ` ${key.name}`} already has ${counted(bound, 'run')} of ${id}, its maximum. ${before}.`;
      }
      // A request of a model without a bound waits for a worker.
      const slots = model?.concurrency.current ?? undefined;
      const group = model?.group ?? undefined;
      const busy =
        slots !== undefined && model!.running >= slots
          ? busySlots(slots, id)
          : group !== undefined && group.running >= group.concurrency
            ? busySlots(group.concurrency, `the group ${group.id}`)
            : `for a free slot of ${id}`;
      return `It waits ${busy}. ${before}.${estimate(request.estimated_start, 'start', now)}`;
    }
  }
}

const busySlots = (slots: number, of: string): string =>
  slots === 1
    ? `for the only slot of ${of}, which is busy`
    : `for one of the ${counted(slots, 'slot')} of ${of}, which are all busy`;

function running({ request, events, now }: Told): string {
  const runs = runsOf(events);
  const started = runs.at(-1)?.at ?? request.started_at;
  const node = runs.at(-1)?.node ?? request.node;
  const where = node ? ` on ${node}` : '';
  const since = started === null || started === undefined ? '' : ` for ${duration(now - ms(started))}`;
  const end = lastEnd(events);
  const again = end === undefined ? '' : ` (attempt ${request.attempt}). Before that, ${failure(end)}`;
  const isStopping = events.some(({ kind }) => kind === 'cancel_requested');
  const stopping = isStopping ? ' It was asked to stop, but its run may still complete.' : '';
  return `It has been running${where}${since}${again}.${stopping}${isStopping ? '' : estimate(request.estimated_end, 'end', now)}`;
}

function completed({ request, events, now }: Told): string {
  const runs = runsOf(events);
  const first = runs[0]?.at ?? request.started_at;
  const from = ms(request.scheduled_at ?? request.created_at);
  const to = request.completed_at === null ? now : ms(request.completed_at);
  const waitMs = Math.max(0, (first === null ? to : ms(first)) - from);
  const waited = duration(waitMs);
  const begun = waitMs < 1_000 ? 'Started at once' : `Waited ${waited}`;
  const starts = runs.length === 0 && request.started_at !== null ? 1 : runs.length;
  // Starts that never reached the model, or were returned, do not count as runs.
  const ran = starts - events.filter(({ kind, outcome }) => kind === 'requeued' && isNoRun(outcome)).length;
  const ranTimes = ran === 0 ? 'never ran' : `ran ${times(ran)}`;
  const node = runs.at(-1)?.node ?? request.node;
  const where = node ? ` on ${node}` : '';
  const erased = request.erased_at ? ` Its content was erased at ${time(request.erased_at, now)}.` : '';
  const end = events.findLast(({ kind }) => kind === 'completed');
  // The event has the model's own message. The status does not, because it is what the caller sees.
  const why = end?.message ? end : (request.error ?? end);
  switch (request.outcome) {
    case 'succeeded': {
      const took = request.metrics.inference_time;
      const long = typeof took === 'number' ? `ran ${duration(took * 1_000)}` : 'ran';
      const tries =
        starts > 1
          ? ` at the ${ordinal(starts)} start. Before that, ${failure(lastEnd(events) ?? { outcome: null })}`
          : '';
      return `${begun}, ${long}${where} and succeeded${tries}.${erased}`;
    }
    case 'cancelled':
      return starts === 0
        ? `Cancelled after waiting ${waited}; it never ran.${erased}`
        : `${begun}, ${ranTimes} and was cancelled${where}.${erased}`;
    case 'expired':
      return starts === 0
        ? `Expired after waiting ${waited}, the longest time allowed; it never ran.${erased}`
        : `${begun}, ${ranTimes} and expired before its next start.${erased}`;
    default: {
      const { code = null, message = null } = why ?? {};
      const said = failure({ outcome: end?.outcome ?? 'failed', code, message, node: node ?? null });
      return `${begun}, ${ranTimes}${ran > 1 ? ', gave up' : ' and failed'}: ${said}.${erased}`;
    }
  }
}

/** Returns how a run failed, as a clause without a full stop. */
function failure(end: Partial<Pick<RequestEvent, 'outcome' | 'code' | 'message' | 'node'>>): string {
  const where = end.node ? ` on ${end.node}` : '';
  const message = end.message ? `: “${trimEnd(end.message)}”` : '';
  if (end.outcome === 'lost' || end.code === 'node_lost' || end.code === 'worker_lost') {
    const runner = end.code === 'worker_lost' ? 'worker' : 'node';
    return `its ${runner}${end.node ? ` ${end.node}` : ''} was lost`;
  }
  if (end.outcome === 'returned') return `${end.node ?? 'its node'} returned it to the queue`;
  if (end.outcome === 'unreached')
    return `${end.node ? `${end.node} could not reach the model` : 'the model could not be reached'}${message}`;
  if (end.outcome === 'timed_out' || end.code === 'timed_out') return `the run timed out${where}`;
  if (end.message) return `the model failed${end.code ? ` with ${end.code}` : ''}${where}${message}`;
  return `the run failed${end.code ? ` with ${end.code}` : ''}${where}`;
}

function estimate(span: { from: string; to: string } | undefined, verb: string, now: number): string {
  if (span === undefined) return '';
  const [from, to] = [ms(span.from) - now, ms(span.to) - now];
  if (to <= 0) return ` It should ${verb} any moment.`;
  if (from <= 1_000) return ` It should ${verb} within ${duration(to)}.`;
  const [early, late] = [duration(from), duration(to)];
  return early === late ? ` It should ${verb} in ${late}.` : ` It should ${verb} in ${early} to ${late}.`;
}

const isNoRun = (outcome: RequestEvent['outcome']): boolean =>
  outcome === 'returned' || outcome === 'unreached';
const trimEnd = (text: string): string => text.trim().replace(/\.$/, '');
const times = (count: number): string => ['', 'once', 'twice'][count] ?? `${count} times`;
const ordinal = (count: number): string => ['', 'first', 'second', 'third', 'fourth'][count] ?? `${count}th`;
