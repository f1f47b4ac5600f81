import { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { requestIdHeader, requestIdOf } from '../http/request-id.js';

/**
 * Nest writes its own, longer Cache-Control when it opens a stream; ours is the one of the API description. What was
 * written is forgotten but for what the log wants at the stream's end.
 */
export function sseHeaders(response: Response): void {
  // Stays in place: to delete a property would turn the response into a dictionary, 3 KiB for as long as it is open.
  response.writeHead = ((status: number, headers: object) => {
    ServerResponse.prototype.writeHead.call(response, status, {
      ...headers,
      'Cache-Control': 'no-cache, no-transform',
    });
    forgetFields(response);
    return response;
  }) as Response['writeHead'];
}

let outHeaders: symbol | undefined;

/**
 * Node keeps the fields of an answer as an object, also when they are on their way as text: 2 KiB for as long as a
 * stream is open. There is no public way to let go of them; should Node call them otherwise, they stay.
 */
function forgetFields(response: Response): void {
  outHeaders ??= Object.getOwnPropertySymbols(response).find(
    ({ description }) => description === 'kOutHeaders',
  );
  if (outHeaders === undefined) return;
  const kept = { [requestIdHeader.toLowerCase()]: [requestIdHeader, requestIdOf(response)] };
  Object.assign(response, { [outHeaders]: kept });
}
