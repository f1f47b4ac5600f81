import type { IncomingMessage } from 'node:http';

/**
 * Returns whether the call has one field "Host" (RFC 9112, 3.2). HTTP/1.0 knows calls without one. Of two, Node would
 * take the first, and a proxy in front may have taken the other.
 */
export function hasOneHost({ httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  if (headers.host === undefined) return httpVersion !== '1.1';
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') count++;
  return count === 1;
}
