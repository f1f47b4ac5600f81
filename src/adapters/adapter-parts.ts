import type { Type } from '@nestjs/common';
import type { LineFormat } from '../batches/line-formats.js';
import type { OtherApi } from '../http/other-apis.js';
import type { AdapterBody } from '../webhooks/webhook-bodies.js';
import type { EventType } from '../webhooks/webhook-events.js';

/** What an adapter consists of. Its name is the root of its paths. */
export interface AdapterParts extends Omit<OtherApi, 'root'> {
  /** Its routes. */
  module: Type;
  /** The webhooks of requests that came in through it. */
  webhookBody: AdapterBody;
  /** The events of runs for which its callers may name a URL. */
  runEvents?: readonly EventType[];
  /** The lines of the batches that its callers make. */
  batchLines?: LineFormat;
}
