import type { Call, Transport } from './transport.js';
import type {
  CallOptions,
  EndpointChanges,
  EndpointOptions,
  MadeWebhookEndpoint,
  WebhookEndpoint,
} from './types.js';

/** The webhook endpoints of the key. All methods reject with a `NowServingError`. */
export class WebhookEndpoints {
  constructor(private readonly transport: Transport) {}

  /** Adds an endpoint, and returns it with the secret for `verifyWebhook`. Idempotent by its URL. */
  create(url: string, { events, signal }: EndpointOptions = {}): Promise<MadeWebhookEndpoint> {
    return this.send([], { method: 'POST', body: { url, events }, signal });
  }

  get(endpointId: string, { signal }: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.send([endpointId], { signal });
  }

  /** Yields the endpoints of the key, newest first. Fetches the next page when it is needed. */
  async *list({ signal }: CallOptions = {}): AsyncGenerator<WebhookEndpoint, void, void> {
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const query = { cursor };
      const page = await this.send<{ data: WebhookEndpoint[]; next_cursor: string | null }>([], {
        query,
        signal,
      });
      yield* page.data;
      cursor = page.next_cursor ?? undefined;
    }
  }

  /** Changes an endpoint. What is left out stays as it is. */
  update(
    endpointId: string,
    { url, events, disabled }: EndpointChanges,
    { signal }: CallOptions = {},
  ): Promise<WebhookEndpoint> {
    return this.send([endpointId], { method: 'PATCH', body: { url, events, disabled }, signal });
  }

  /** Removes an endpoint. Deliveries that are pending go on. */
  delete(endpointId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.send([endpointId], { method: 'DELETE', signal });
  }

  private async send<T>(route: string[], call: Omit<Call, 'path'>): Promise<T> {
    return (await this.transport.send<T>({ ...call, path: ['webhook-endpoints', ...route] })).body;
  }
}
