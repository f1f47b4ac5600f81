import { KeysService } from '../../src/auth/keys.service.js';
import type { TestService } from './index.js';
import { keyHeader, QueueCalls, unknownId } from './queue-calls.js';

type NewKey = Partial<Parameters<KeysService['create']>[0]>;

export interface Via {
  headers?: Record<string, string>;
  model?: string;
  query?: string;
}

/** Calls the service's routes with any key, or without one. The objects of the calls do not exist unless they must. */
export class Caller {
  constructor(readonly service: TestService) {}

  get keys(): KeysService {
    return this.service.app.get(KeysService);
  }

  newKey(key: NewKey = {}): Promise<string> {
    return new QueueCalls(this.service).newKey(key);
  }

  /** 202, if the key may submit. */
  submit(key?: string, { model = 'demo/text/echo', ...via }: Via = {}): Promise<Response> {
    return this.call('POST', `/v1/queue/${model}`, key, via, '{}');
  }

  /** 404, if the key may read. */
  status(key?: string, via: Via = {}): Promise<Response> {
    return this.about('/status', key, via);
  }

  /** Not served by the fast path. 404, if the key may read. */
  response(key?: string, via: Via = {}): Promise<Response> {
    return this.about('', key, via);
  }

  stream(key?: string, via: Via = {}): Promise<Response> {
    return this.about('/status/stream', key, via);
  }

  cancel(key?: string, via: Via = {}): Promise<Response> {
    return this.about('/cancel', key, via, 'PUT');
  }

  private about(route: string, key: string | undefined, via: Via, method = 'GET'): Promise<Response> {
    return this.call(method, `/v1/queue/requests/${unknownId()}${route}${via.query ?? ''}`, key, via);
  }

  private call(method: string, path: string, key?: string, { headers }: Via = {}, body?: string) {
    const authorization = key === undefined ? {} : keyHeader(key);
    return fetch(this.service.url + path, { method, headers: { ...authorization, ...headers }, body });
  }
}
