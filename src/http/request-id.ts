import { randomUUID } from 'node:crypto';
import type { Response } from 'express';

export const requestIdHeader = 'X-Request-Id';

const sane = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the caller's id if it is safe in a header and in a log line, otherwise a new one. */
export function chooseRequestId(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && sane.test(sent) ? sent : randomUUID();
}

/** Returns the id of the HTTP exchange, not of the queued request. */
export function requestIdOf(response: Response): string {
  return String(response.getHeader(requestIdHeader));
}
