import type { Call, Transport } from './transport.js';
import type { CallOptions, EndpointOptions, WebhookEndpoint } from './types.js';

/** The webhook endpoints of the key. All methods reject with a `NowServingError`. */
export class WebhookEndpoints {
  constructor(private readonly transport: Transport) {}

  /** Adds an endpoint. One that has the same URL already gets these events instead, and is enabled. */
  create(url: string, { events, signal }: EndpointOptions = {}): Promise<WebhookEndpoint> {
    return this.send([], { method: 'POST', body: { url, events }, signal });
  }

  /** Returns all endpoints of the key. */
  async list({ signal }: CallOptions = {}): Promise<WebhookEndpoint[]> {
    return (await this.send<{ data: WebhookEndpoint[] }>([], { signal })).data;
  }

  /** Removes an endpoint. Deliveries that are pending go on. */
  delete(endpointId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.send([endpointId], { method: 'DELETE', signal });
  }

  private async send<T>(route: string[], call: Omit<Call, 'path'>): Promise<T> {
    return (await this.transport.send<T>({ ...call, path: ['webhook-endpoints', ...route] })).body;
  }
}
