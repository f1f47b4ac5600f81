import type { Request, Response } from 'express';
import { useHeadFields } from '../internals/head-fields.js';

/** Sets the header fields shared by all streams of a request. */
export function useStreamHead(request: Request, response: Response): void {
  useHeadFields(response, {
    'Cache-Control': 'no-cache, no-transform',
    // Nest always sends keep-alive. A caller that asked for `close` would then wait for the connection's end.
    ...(/\bclose\b/i.test(request.headers.connection ?? '') && { Connection: 'close' }),
  });
}
