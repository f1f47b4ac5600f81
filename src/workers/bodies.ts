import { isUtf8 } from 'node:buffer';
import { DomainError } from '../errors/domain-error.js';
import { hasMark } from '../json/jobs.js';
import { maxInlineBytes } from '../models/input-schemas.js';
import { readRunLine, type RunLine, RunLineFault } from '../queue/runs/run-lines.js';
import { Slices } from '../tools/slices.js';

const maxEvents = 20_000;

/** Reads the events of a run, one per line. A line of an unknown kind counts too. */
export async function readEvents(
  body: Buffer,
  readLong: (line: Buffer, number: number) => Promise<RunLine>,
): Promise<RunLine[]> {
  assertUtf8(body);
  const lines: RunLine[] = [];
  const slices = new Slices();
  let number = 0;
  for (const line of linesOf(hasMark(body) ? body.subarray(3) : body)) {
    number++;
    const one =
      line.length <= maxInlineBytes
        ? readEvent(line.toString().trim(), number)
        : await readLong(line, number);
    if (one === undefined) continue;
    lines.push(allowed(one, number));
    if (lines.length > maxEvents)
      throw new DomainError('too_large', `The body may hold ${maxEvents} events at most.`);
    if (slices.isOver) await slices.next();
  }
  return lines;
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
function readEvent(line: string, number: number): RunLine | undefined {
  if (line === '') return undefined;
  try {
    return readRunLine(line);
  } catch (error) {
    if (error instanceof RunLineFault) throw lineFault(error.message, number);
    throw error;
  }
}

export function lineFault(what: string, number: number): DomainError {
  const code = /larger than|more than/.test(what) ? 'body_too_large' : 'bad_request';
  return new DomainError(code, `Line ${number} of the body contains ${what}.`);
}

function allowed(runLine: RunLine, number: number): RunLine {
  if (runLine.type !== 'output' && runLine.type !== 'error') return runLine;
  throw lineFault(
    `an "${runLine.type}" line: report the end of a run with PUT …/output or PUT …/failure`,
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
