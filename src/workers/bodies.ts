import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../errors/domain-error.js';
import { hasMark } from '../json/jobs.js';
import { maxInlineBytes } from '../models/input-schemas.js';
import { readSaid, type Said, SaidFault } from '../queue/runs/said.js';

/** Milliseconds of reading lines before other calls get a turn. */
const maxSliceMs = 10;
const maxEvents = 20_000;

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
