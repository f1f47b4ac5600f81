import { parseAllowedAddresses } from '../../src/config/allowed-addresses.js';
import type { Config } from '../../src/config/config.js';
import { SendingTerms } from '../../src/webhooks/sending-terms.js';
import { type TestService, until } from './index.js';
import { keyHeader, type QueueCalls } from './queue-calls.js';
import { testQueue } from './test-queue.js';
import { WebhookReceiver } from './webhook-receiver.js';

export interface DeliveryView {
  id: string;
  event: string;
  url: string;
  state: string;
  next_try_at: string | null;
  tries: {
    at: string;
    status: number | null;
    duration_ms: number;
    body: string | null;
    error: string | null;
  }[];
}

/** 127.0.0.1 must be allowed, because it is not public. */
export const webhookAllow = parseAllowedAddresses('127.0.0.1');

/** A service that may call 127.0.0.1, a receiver there, and models with these settings. */
export function testWebhooks(
  config: Partial<Config> = {},
  models: Record<string, object> = {
    'test/hook': {},
    'test/twice': { attempts: 2 },
    'test/one': { concurrency: 1 },
  },
) {
  const { service, calls, model } = testQueue({
    models,
    limits: '1000/s',
    config: { webhookAllow, ...config },
  });
  const receiver = new WebhookReceiver();
  beforeAll(() => receiver.start());
  afterAll(() => receiver.stop());
  const hooks = new WebhookCalls(service, calls, receiver);
  afterEach(() => {
    receiver.answer = ({ response }) => void response.writeHead(204).end();
    Object.assign(hooks.terms, new SendingTerms());
  });
  return { service, calls, model, receiver, hooks };
}

/** What a caller does with webhooks. */
class WebhookCalls {
  private count = 0;

  constructor(
    private readonly service: TestService,
    private readonly calls: QueueCalls,
    private readonly receiver: WebhookReceiver,
  ) {}

  /** The terms of sending. A test may change them. */
  get terms(): SendingTerms {
    return this.service.app.get(SendingTerms);
  }

  newPath(): string {
    return `/hook/${++this.count}`;
  }

  /** Submits with a webhook at its own path. */
  async submit(input: object = {}, options = '', model = 'test/hook'): Promise<{ id: string; path: string }> {
    const path = this.newPath();
    const query = `webhook=${encodeURIComponent(this.receiver.url(path))}${options}`;
    return { id: await this.calls.submit(`${model}?${query}`, input), path };
  }

  async list(id: string): Promise<DeliveryView[]> {
    const answer = await this.service.get(`${this.calls.path(id)}/deliveries`, {
      headers: keyHeader(this.service.key),
    });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { data: DeliveryView[] }).data;
  }

  /** Returns the only delivery of a request, when it is in this state with this many tries. */
  only(id: string, state: string, tries = 1): Promise<DeliveryView> {
    return until(
      async () => {
        const [delivery, ...others] = await this.list(id);
        expect(others).toEqual([]);
        return delivery?.state === state && delivery.tries.length >= tries && delivery;
      },
      { message: `the webhook of ${id} is ${state}`, explain: () => this.list(id) },
    );
  }
}
