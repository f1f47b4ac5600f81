import type { Request, Response } from 'express';
import { useHeadFields } from '../internals/head-fields.js';

/** Of every stream of a request. */
export function useStreamHead(request: Request, response: Response): void {
  useHeadFields(response, {
    'Cache-Control': 'no-cache, no-transform',
    // Nest says keep-alive whatever the caller says, who would wait for the end of the connection.
    ...(/\bclose\b/i.test(request.headers.connection ?? '') && { Connection: 'close' }),
  });
}
