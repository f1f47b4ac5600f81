import type { HookedEvent } from '../queue/transition-hooks.js';
import type { ClaimedDelivery } from './queries/claim-deliveries.js';
import type { WebhookBodies } from './webhook-bodies.js';

/** A type of event. Endpoints of the key that list it get it. */
export interface WebhookEvent {
  /** The change of the request. The deliveries are written in its commit. */
  on: HookedEvent;
  /** True: the URL that the request itself names gets it, too. */
  isForRequestUrl: boolean;
  /** Returns the JSON text of a delivery as of now. URLs in it begin with `base`. */
  body(bodies: WebhookBodies, delivery: ClaimedDelivery, base: string): string;
}

/** The type of the event of a batch that has ended, however it ended. */
export const batchCompletedType = 'batch.completed';

/** All types of events of requests. The name is the `type` in the body. */
export const webhookEvents = {
  'request.completed': {
    on: 'request.completed',
    isForRequestUrl: true,
    body: (bodies, delivery, base) => bodies.completed(delivery, base),
  },
} satisfies Record<string, WebhookEvent>;

/** The types that an endpoint may want. */
export type WebhookEventType = keyof typeof webhookEvents | typeof batchCompletedType;
export const webhookEventTypes = [
  ...(Object.keys(webhookEvents) as (keyof typeof webhookEvents)[]),
  batchCompletedType,
] as const satisfies readonly WebhookEventType[];

/** The events of an endpoint that was added without a choice. */
export const defaultEvents: readonly WebhookEventType[] = ['request.completed'];

/** Returns what makes the bodies of a type. undefined: the delivery was written by a later release, which knows more types. */
export const findEvent = (type: string): Pick<WebhookEvent, 'body'> | undefined =>
  type === startedType ? started : (webhookEvents as Partial<Record<string, WebhookEvent>>)[type];

/** The type of the event for the URL that a request of an adapter names for its start. Endpoints do not get it. */
export const startedType = 'request.started';

const started: Pick<WebhookEvent, 'body'> = {
  body: (bodies, delivery, base) => bodies.started(delivery, base),
};
