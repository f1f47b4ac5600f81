import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../errors/domain-error.js';
import { RunFailure } from '../queue/runs/runner.js';
import { readSaid, type Said, SaidFault } from '../queue/runs/said.js';
import type { LeaseName } from '../queue/workers/lease.js';
import { isObject } from '../http/input/json-body.js';
import { hasMark } from '../json/jobs.js';
import { maxInlineBytes } from '../models/input-schemas.js';
import { cleanText } from '../tools/storable-text.js';
import { JsonFields } from './json-fields.js';
import { readLeaseToken } from './lease-token.js';

/** Milliseconds of reading lines before other calls get a turn. */
const maxSliceMs = 10;
const maxEvents = 20_000;
const maxModels = 100;
const maxRuns = 100;
const maxLeases = 1_000;
const maxIdLength = 200;
const maxLabels = 32;
const maxTextLength = 200;
const maxStateLength = 32;
const maxMessageLength = 8_192;
const maxRetryAfterSeconds = 3_600;
const maxDetailsBytes = 64 * 1024;

const claimExample =
  '{"claim_id": "c-1", "worker": {"id": "gpu-1"}, "models": [{"model_id": "me/image/upscale"}]}';

/** The contents of a claim's body. */
export interface ClaimBody {
  claimId: string;
  worker: { id: string; name: string; version: string; labels: Record<string, string> };
  models: Map<string, number>;
  max: number;
}

export function readClaim(body: Buffer): ClaimBody {
  const fields = JsonFields.of(body, claimExample);
  const claimId = fields.requiredText('claim_id', maxIdLength);
  const worker = fields.object('worker');
  if (worker === undefined) throw fields.fault('worker', 'an object with the "id" of the worker');
  const id = worker.requiredText('id', maxIdLength);
  const max = fields.whole('max', 1, maxRuns) ?? 1;
  const models = new Map<string, number>();
  for (const [i, one] of fields.list('models', maxModels).entries()) {
    if (!isObject(one)) throw fields.fault(`models[${i}]`, 'an object with a "model_id"');
    const model = new JsonFields(one, `models[${i}].`);
    models.set(model.requiredText('model_id', 256), Math.min(max, model.whole('max', 1, maxRuns) ?? max));
  }
  if (models.size === 0) throw fields.fault('models', 'a list of at least one {"model_id": …, "max": …}');
  return {
    claimId,
    worker: {
      id,
      name: worker.text('name', maxTextLength) || id,
      version: worker.text('version', maxTextLength) ?? '',
      labels: worker.labels('labels', maxLabels, maxTextLength) ?? {},
    },
    models,
    max,
  };
}

export interface BeatBody {
  workerId: string;
  state: string | undefined;
  leases: LeaseName[];
}

export function readBeat(keyId: string, body: Buffer): BeatBody {
  const fields = JsonFields.of(body, '{"worker_id": "gpu-1", "leases": []}');
  const workerId = fields.requiredText('worker_id', maxIdLength);
  const state = fields.text('state', maxStateLength);
  const leases = fields.list('leases', maxLeases).map((text, i) => {
    const lease = typeof text === 'string' ? readLeaseToken(keyId, text) : undefined;
    if (lease === undefined) throw fields.fault(`leases[${i}]`, 'the lease_token of a run');
    return lease;
  });
  // A repeated lease counts once.
  return { workerId, state, leases: [...new Map(leases.map((lease) => [lease.token, lease])).values()] };
}

export function readFailure(body: Buffer): RunFailure {
  const fields = JsonFields.of(body, '{"message": "out of memory", "retryable": true}', true);
  const said = fields.get('message');
  if (said !== undefined && typeof said !== 'string') throw fields.fault('message', 'a text');
  const retryable = fields.get('retryable') ?? false;
  if (typeof retryable !== 'boolean') throw fields.fault('retryable', 'true or false');
  const after = fields.get('retry_after_s');
  if (after !== undefined && !isSeconds(after))
    throw fields.fault('retry_after_s', `a number of seconds from 0 to ${maxRetryAfterSeconds}`);
  const status = fields.whole('status', 400, 499);
  const details = fields.get('details');
  if (details !== undefined && Buffer.byteLength(JSON.stringify(details)) > maxDetailsBytes)
    throw new DomainError('body_too_large', `"details" may have ${maxDetailsBytes} bytes at most.`);
  return new RunFailure(cleanText(said || 'The worker failed.', maxMessageLength), {
    retryable,
    ...(retryable && after !== undefined && { retryAfterMs: after * 1_000 }),
    // The caller need not act on "try again".
    ...(!retryable && status !== undefined && { status }),
    ...(details !== undefined && { details }),
  });
}

const isSeconds = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= maxRetryAfterSeconds;

/** Reads the events of a run, one per line. A line of an unknown kind counts too. */
export async function readEvents(
  body: Buffer,
  readLong: (line: Buffer, number: number) => Promise<Said>,
): Promise<Said[]> {
  assertUtf8(body);
  const said: Said[] = [];
  let since = performance.now();
  let number = 0;
  for (const line of linesOf(hasMark(body) ? body.subarray(3) : body)) {
    number++;
    const one =
      line.length <= maxInlineBytes
        ? readEvent(line.toString().trim(), number)
        : await readLong(line, number);
    if (one === undefined) continue;
    said.push(allowed(one, number));
    if (said.length > maxEvents)
      throw new DomainError('too_large', `The body may hold ${maxEvents} events at most.`);
    if (performance.now() - since < maxSliceMs) continue;
    await nextTurn();
    since = performance.now();
  }
  return said;
}

function* linesOf(body: Buffer): Generator<Buffer> {
  let start = 0;
  for (let end = body.indexOf('\n'); end !== -1; end = body.indexOf('\n', start)) {
    yield body.subarray(start, end);
    start = end + 1;
  }
  yield body.subarray(start);
}

/** undefined: the line is blank. */
function readEvent(line: string, number: number): Said | undefined {
  if (line === '') return undefined;
  try {
    return readSaid(line);
  } catch (error) {
    if (error instanceof SaidFault) throw lineFault(error.message, number);
    throw error;
  }
}

export function lineFault(what: string, number: number): DomainError {
  const code = /larger than|more than/.test(what) ? 'body_too_large' : 'bad_request';
  return new DomainError(code, `Line ${number} of the body contains ${what}.`);
}

function allowed(said: Said, number: number): Said {
  if (said.type !== 'output' && said.type !== 'error') return said;
  throw lineFault(
    `an "${said.type}" line: report the end of a run with PUT …/output or PUT …/failure`,
    number,
  );
}

function assertUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw new DomainError('invalid_json', 'The body is not valid UTF-8.');
}

export function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new DomainError('invalid_json', 'The body is not valid UTF-8.');
  }
}
