import type { QueueEvents } from '../queue/queue-events.js';
import type { RequestEvents } from '../queue/request-events.js';
import type { HookedEvent } from '../queue/transition-hooks.js';
import type { Class } from '../tools/validation.js';
import { CompletedEventDto, ProgressEventDto, StartedEventDto } from './dto/events.dto.js';
import type { RunContent } from './entities/webhook-delivery.entity.js';
import type { ClaimedDelivery } from './queries/claim-deliveries.js';
import { progressBody } from './run-bodies.js';
import type { WebhookBodies } from './webhook-bodies.js';

/** What an event of a run knows besides its time. */
export type RunFacts = Pick<RunContent, 'progress' | 'attempt'>;

/** Calls `add` for each event of a run that this node has published. */
type FollowRuns = (queue: QueueEvents, add: (requestId: string, facts: RunFacts) => void) => void;

/** Follows an event of the queue. `factsOf` returns undefined if it is another event for receivers. */
function after<Name extends Exclude<keyof RequestEvents, 'submission.refused' | 'node.lost'>>(
  name: Name,
  factsOf: (request: RequestEvents[Name][number]) => RunFacts | undefined,
): FollowRuns {
  return (queue, add) =>
    queue.on(name, (requests) => {
      for (const request of requests) {
        const facts = factsOf(request);
        if (facts !== undefined) add(request.id, facts);
      }
    });
}

/** A type of event. */
export interface WebhookEvent {
  /** The change of the request in whose commit the deliveries are written. */
  on?: HookedEvent;
  /** The event of a run after whose commit the deliveries are written, so that claims cost nothing. */
  follow?: FollowRuns;
  /** True: the URL that the request itself names as its webhook gets it, too. */
  isForRequestUrl?: boolean;
  /** How the description of the API shows it: when it is sent, and the class of its body. The room of batches describes its own. */
  described?: { summary: string; dto: Class<object> };
  /** Returns the JSON text of a delivery as of now. URLs in it begin with `base`. undefined: its subject was deleted. */
  body?(bodies: WebhookBodies, delivery: ClaimedDelivery, base: string): string | Promise<string | undefined>;
}

/** The type of the event of a batch that has ended, however it ended. */
export const batchCompletedType = 'batch.completed';

/** The type of the event of a run that has started. */
export const startedType = 'request.started';

/** All types of events. The name is the `type` in the body. Endpoints of a key that list a type get it. */
export const webhookEvents = {
  'request.completed': {
    on: 'request.completed',
    isForRequestUrl: true,
    described: { summary: 'A request has completed', dto: CompletedEventDto },
    body: (bodies, delivery, base) => bodies.completed(delivery, base),
  },
  [startedType]: {
    follow: after('request.started', ({ attempt }) => ({ attempt })),
    described: { summary: 'An attempt of a request has started', dto: StartedEventDto },
    body: (bodies, delivery, base) => bodies.started(delivery, base),
  },
  'request.progress': {
    follow: after('request.progressed', ({ progress }) => (progress === null ? undefined : { progress })),
    described: {
      summary: 'A run has made progress: the newest, at most every 500 ms',
      dto: ProgressEventDto,
    },
    body: (_bodies, delivery, base) => progressBody(delivery, base),
  },
  [batchCompletedType]: { body: (bodies, delivery, base) => bodies.batch(delivery, base) },
} satisfies Record<string, WebhookEvent>;

export type WebhookEventType = keyof typeof webhookEvents;
export const webhookEventTypes = Object.keys(webhookEvents) as WebhookEventType[];

/** The events of an endpoint that was added without a choice. */
export const defaultEvents: readonly WebhookEventType[] = ['request.completed'];

/** Types that only URLs get which requests of adapters name. */
const adapterEvents = {
  'request.output': {
    follow: after('request.progressed', ({ hasOutput }) => (hasOutput ? {} : undefined)),
    body: (bodies, delivery, base) => bodies.said(delivery, base),
  },
  'request.logs': {
    follow: after('request.progressed', ({ hasLogs }) => (hasLogs ? {} : undefined)),
    body: (bodies, delivery, base) => bodies.said(delivery, base),
  },
} satisfies Record<string, WebhookEvent>;

export type EventType = WebhookEventType | keyof typeof adapterEvents;
const allEvents: Readonly<Record<EventType, WebhookEvent>> = { ...webhookEvents, ...adapterEvents };

/** undefined: the delivery was written by a later release, which knows more types. */
export const eventOf = (type: string): WebhookEvent | undefined => allEvents[type as EventType];

/** The events of runs. */
export const runEvents: readonly { type: EventType; follow: FollowRuns }[] = (
  Object.entries(allEvents) as [EventType, WebhookEvent][]
).flatMap(([type, { follow }]) => (follow === undefined ? [] : [{ type, follow }]));
