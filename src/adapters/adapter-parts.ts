import type { Type } from '@nestjs/common';
import type { OtherApi } from '../http/other-apis.js';
import type { AdapterBody } from '../webhooks/webhook-bodies.js';

/** What an adapter consists of. Its name is the root of its paths. */
export interface AdapterParts extends Omit<OtherApi, 'root'> {
  /** Its routes. */
  module: Type;
  /** The webhooks of requests that came in by it. */
  webhookBody: AdapterBody;
  /** True: its callers may name a URL that is called when a request starts. */
  hasStartWebhook?: true;
}
