import { codeUnitAt, isHigh, storableJson } from '../../tools/storable-text.js';
import { deltaIn, partOf } from '../reads/output-part.js';
import type { EventBatch, LogLine, Progress } from './queries/append-events.js';

const logsAtOnce = 200;
const deltaBytesAtOnce = 1024 * 1024;
/** Consecutive strings are joined into one row until it is this long. */
const joinedLength = 16 * 1024;

/** A part of the output that is not written yet. */
interface Part {
  /** JSON text; '': it has only chunks. */
  delta: string;
  chunks: string[];
  length: number;
}

/** The events of a run that are not written yet. */
export class EventBuffer {
  logs: LogLine[] = [];
  progress: Progress | null = null;
  /** JSON text of what the run has used; null: it has reported nothing new. */
  usage: string | null = null;
  /** Bytes in UTF-8. */
  deltaBytes = 0;
  private parts: Part[] = [];
  /** The chunks of a run's stream are kept for all of it, or for none. */
  private keepsChunks = false;
  /**
   * The first half of a surrogate pair, as an escape, at the end of the last delta: the next may have the other half.
   */
  private half = '';

  get hasDeltas(): boolean {
    return this.parts.length > 0;
  }

  get isEmpty(): boolean {
    return this.logs.length === 0 && this.progress === null && this.usage === null && !this.hasDeltas;
  }

  /**
   * `delta`: JSON text. Consecutive strings are joined into one. A surrogate pair that two of them share becomes whole.
   */
  addDelta(delta: string): void {
    this.deltaBytes += Buffer.byteLength(delta);
    if (!isString(delta)) this.end();
    const whole = this.half === '' ? delta : `"${this.half}${delta.slice(1)}`;
    this.half = halfAtEnd(whole);
    const kept = this.half === '' ? whole : `${whole.slice(0, -1 - this.half.length)}"`;
    if (kept !== '""' || this.half === '') this.push(storableJson(kept));
  }

  /** `chunk`: JSON text without a line break. `deltas`: what it adds to the output. */
  addChunk(chunk: string, deltas: readonly string[]): void {
    this.keepsChunks = true;
    this.deltaBytes += Buffer.byteLength(chunk);
    this.push('', storableJson(chunk));
    for (const delta of deltas) this.addDelta(delta);
  }

  /** Ends the string: no other half will come. */
  end(): void {
    if (this.half !== '') this.push(storableJson(`"${this.half}"`));
    this.half = '';
  }

  private push(delta: string, chunk?: string): void {
    const length = delta.length + (chunk?.length ?? 0);
    const last = this.parts.at(-1);
    if (last !== undefined && last.length < joinedLength && canJoin(last.delta, delta)) {
      last.delta = joined(last.delta, delta);
      if (chunk !== undefined) last.chunks.push(chunk);
      last.length += length;
    } else this.parts.push({ delta, chunks: chunk === undefined ? [] : [chunk], length });
  }

  dropDeltas(): void {
    this.parts = [];
    this.deltaBytes = 0;
  }

  /** Takes as much as one write may have; the rest stays. */
  take(): Omit<EventBatch, 'requestId' | 'token' | 'from'> {
    const logs = this.logs.splice(0, logsAtOnce);
    const { progress, usage } = this;
    this.progress = this.usage = null;
    let bytes = 0;
    const deltas: string[] = [];
    for (const { delta, chunks } of this.parts) {
      if (bytes >= deltaBytesAtOnce) break;
      const row = this.keepsChunks ? partOf(delta, chunks) : delta;
      bytes += Buffer.byteLength(row);
      deltas.push(row);
    }
    this.parts.splice(0, deltas.length);
    this.deltaBytes = this.parts.length === 0 ? 0 : Math.max(0, this.deltaBytes - bytes);
    const count = logs.length + deltas.length + Number(progress !== null) + Number(usage !== null);
    return { count, logs, progress, usage, deltas };
  }
}

/**
 * Returns the output that the deltas of parts make: strings are joined, all else is listed. undefined: there are no
 * deltas.
 */
export function outputOf(parts: readonly string[]): string | undefined {
  const groups: string[][] = [];
  let isText = false;
  for (const part of parts) {
    const delta = deltaIn(part);
    if (delta === undefined) continue;
    if (isText && isString(delta)) groups.at(-1)!.push(delta);
    else groups.push([delta]);
    isText = isString(delta);
  }
  const values = groups.map((group) => (group.length === 1 ? group[0]! : joinedAll(group)));
  return values.length === 1 && isText
    ? values[0]
    : values.length === 0
      ? undefined
      : `[${values.join(',')}]`;
}

/** Returns the escape at the end of a string if it is the first half of a surrogate pair, else an empty text. */
function halfAtEnd(json: string): string {
  const at = json.length - '\\ud800"'.length;
  if (!isHigh(codeUnitAt(json, at))) return '';
  let first = at;
  while (json[first - 1] === '\\') first--;
  // After an odd number of backslashes, this one is itself escaped.
  return (at - first) % 2 === 0 ? json.slice(at, -1) : '';
}

const isString = (json: string): boolean => json.startsWith('"');

/** Strings can be joined, and anything with nothing. */
const canJoin = (first: string, second: string): boolean =>
  first === '' || second === '' || (isString(first) && isString(second));

/** Joins two deltas for which `canJoin` holds. */
function joined(first: string, second: string): string {
  return first === '' || second === '' ? first + second : first.slice(0, -1) + second.slice(1);
}

const joinedAll = (texts: readonly string[]): string =>
  `"${texts.map((text) => text.slice(1, -1)).join('')}"`;
