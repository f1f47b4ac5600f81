import type { HookedEvent } from '../queue/transition-hooks.js';
import type { Class } from '../tools/validation.js';
import { CompletedEventDto, ProgressEventDto, StartedEventDto } from './dto/events.dto.js';
import type { ClaimedDelivery } from './queries/claim-deliveries.js';
import { runEvents } from './run-event.js';
import type { WebhookBodies } from './webhook-bodies.js';

/** A type of event. */
export interface WebhookEvent {
  /** The change of the request in whose commit the deliveries are written. Default: they are written otherwise. */
  on?: HookedEvent;
  /** True: the URL that the request itself names as its webhook gets it, too. */
  isForRequestUrl?: boolean;
  /** How the description of the API shows it: when it is sent, and the class of its body. The room of batches describes its own. */
  described?: { summary: string; dto: Class<object> };
  /** Returns the JSON text of a delivery as of now. URLs in it begin with `base`. undefined: its subject was deleted. */
  body?(bodies: WebhookBodies, delivery: ClaimedDelivery, base: string): string | Promise<string | undefined>;
}

/** The type of the event of a batch that has ended, however it ended. */
export const batchCompletedType = 'batch.completed';

/** All types of events. The name is the `type` in the body. Endpoints of a key that list a type get it. */
export const webhookEvents = {
  'request.completed': {
    on: 'request.completed',
    isForRequestUrl: true,
    described: { summary: 'A request has completed', dto: CompletedEventDto },
    body: (bodies, delivery, base) => bodies.completed(delivery, base),
  },
  [runEvents.started]: {
    described: { summary: 'An attempt of a request has started', dto: StartedEventDto },
    body: (bodies, delivery, base) => bodies.started(delivery, base),
  },
  [runEvents.progress]: {
    described: {
      summary: 'A run has made progress: the newest, at most every 500 ms',
      dto: ProgressEventDto,
    },
    body: (bodies, delivery, base) => bodies.progress(delivery, base),
  },
  [batchCompletedType]: { body: (bodies, delivery, base) => bodies.batch(delivery, base) },
} satisfies Record<string, WebhookEvent>;

export type WebhookEventType = keyof typeof webhookEvents;
export const webhookEventTypes = Object.keys(webhookEvents) as WebhookEventType[];

/** The events of an endpoint that was added without a choice. */
export const defaultEvents: readonly WebhookEventType[] = ['request.completed'];

/** Types that only URLs get which requests of adapters name. */
const adapterEvents: Readonly<Record<string, WebhookEvent>> = {
  [runEvents.output]: { body: (bodies, delivery, base) => bodies.said(delivery, base) },
  [runEvents.logs]: { body: (bodies, delivery, base) => bodies.said(delivery, base) },
};

/** undefined: the delivery was written by a later release, which knows more types. */
export const eventOf = (type: string): WebhookEvent | undefined =>
  (({ ...webhookEvents, ...adapterEvents }) as Readonly<Record<string, WebhookEvent>>)[type];
