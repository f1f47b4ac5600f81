import type { IncomingHttpHeaders } from 'node:http';
import type { ByteRange } from './stores/file-store.js';

export type Selection =
  | { status: 200 }
  | { status: 206; range: ByteRange }
  /** The client has it already. */
  | { status: 304 }
  /** The client wants another version. */
  | { status: 412 }
  | { status: 416 };

/** Returns which part of a file is asked for, by RFC 9110. If several ranges are asked for, it is the whole file. */
export function selectionOf(
  headers: IncomingHttpHeaders,
  { method, etag, size }: { method: string; etag: string; size: number },
): Selection {
  const { range, 'if-match': wanted, 'if-range': ifRange, 'if-none-match': known } = headers;
  if (wanted !== undefined && !etagsOf(wanted).some((one) => one === etag || one === '*'))
    return { status: 412 };
  if (known !== undefined && isKnown(known, etag)) return { status: 304 };
  if (range === undefined || method !== 'GET') return { status: 200 };
  // A date never matches, because files have none.
  if (ifRange !== undefined && String(ifRange).trim() !== etag) return { status: 200 };
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(range) ?? [];
  if (first === '' && last === '') return { status: 200 };
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? { status: 416 } : { status: 206, range: { start: size - length, end: size - 1 } };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return { status: 200 };
  return start >= size ? { status: 416 } : { status: 206, range: { start, end } };
}

function isKnown(field: string, etag: string): boolean {
  return etagsOf(field)
    .map((one) => one.replace(/^W\//, ''))
    .some((one) => one === etag || one === '*');
}

const etagsOf = (field: string): string[] => field.split(',').map((one) => one.trim());
