import type { Response } from 'express';
import { useHeadFields } from '../internals/head-fields.js';

/** A node that stops ends its streams, and must have said before that the connection closes with them. */
export const lastOfConnection = { Connection: 'close' };

/** Sets the header fields shared by all streams of events. Nest writes the events themselves (`@Sse`). */
export function useStreamHead(response: Response): void {
  useHeadFields(response, {
    'Cache-Control': 'no-cache, no-transform',
    ...lastOfConnection,
  });
}
