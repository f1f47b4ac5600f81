import { KeysService } from '../../src/auth/keys.service.js';
import type { TestService } from './index.js';
import { keyHeader, unknownId } from './queue-calls.js';

type NewKey = Partial<Parameters<KeysService['create']>[0]>;

export interface Via {
  headers?: Record<string, string>;
  model?: string;
  query?: string;
}

/** Calls of the service's routes with any key, or without one. What they are about is not there, unless it has to be. */
export class Caller {
  constructor(readonly service: TestService) {}

  get keys(): KeysService {
    return this.service.app.get(KeysService);
  }

  async newKey(key: NewKey = {}): Promise<string> {
    return (await this.keys.create({ name: 'test', ...key })).reveal();
  }

  /** 202, where the key may. */
  submit(key?: string, { headers, model = 'demo/text/echo' }: Via = {}): Promise<Response> {
    return this.call('POST', `/v1/queue/${model}`, key, headers, '{}');
  }

  /** 404, where the key may. */
  status(key?: string, { headers, query = '' }: Via = {}): Promise<Response> {
    return this.call('GET', `/v1/queue/requests/${unknownId()}/status${query}`, key, headers);
  }

  /** Past the fast path: 404, where the key may. */
  response(key?: string, { headers }: Via = {}): Promise<Response> {
    return this.call('GET', `/v1/queue/requests/${unknownId()}`, key, headers);
  }

  stream(key?: string, { headers }: Via = {}): Promise<Response> {
    return this.call('GET', `/v1/queue/requests/${unknownId()}/status/stream`, key, headers);
  }

  cancel(key?: string, { headers }: Via = {}): Promise<Response> {
    return this.call('PUT', `/v1/queue/requests/${unknownId()}/cancel`, key, headers);
  }

  call(
    method: string,
    path: string,
    key?: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<Response> {
    const authorization = key === undefined ? {} : keyHeader(key);
    return fetch(this.service.url + path, {
      method,
      headers: { ...authorization, ...headers },
      ...(body !== undefined && { body }),
    });
  }
}
