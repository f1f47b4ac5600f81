import type { Response } from 'express';
import { useHeadFields } from '../internals/head-fields.js';

/** Sets the header fields shared by all streams of events. */
export function useStreamHead(response: Response): void {
  useHeadFields(response, {
    'Cache-Control': 'no-cache, no-transform',
    // Nest always sends keep-alive, also where the caller or the service wants the connection closed.
    ...(!response.shouldKeepAlive && { Connection: 'close' }),
  });
}
