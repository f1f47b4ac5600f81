import type { Status } from './queue-calls.js';
import type { TestService } from './index.js';

export interface Page {
  data: (Status & Record<string, unknown>)[];
  next_cursor: string | null;
}

export interface BatchResult {
  status: number;
  request_id?: string;
  response_url?: string;
  status_url?: string;
  cancel_url?: string;
  code?: string;
  detail?: string;
  errors?: { path: string; message: string }[];
}

const root = '/v1/queue/requests';

/** The calls about requests as a collection, by default with the service's key. */
export class CollectionCalls {
  constructor(private readonly service: TestService) {}

  call(method: string, path: string, body?: unknown, key = this.service.key): Promise<Response> {
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const headers = { authorization: `Key ${key}` };
    return fetch(new URL(`${root}${path}`, this.service.url), { method, headers, body: text });
  }

  async page(query: string, key?: string): Promise<Page> {
    return answered<Page>(await this.call('GET', query, undefined, key));
  }

  /** Returns the ids of all pages, page by page. */
  async pages(query: string, key?: string): Promise<string[][]> {
    const pages: string[][] = [];
    for (let at: string | null = query; at !== null;) {
      const { data, next_cursor: next }: Page = await this.page(at, key);
      pages.push(data.map(({ request_id: id }) => id));
      at = next === null ? null : `?cursor=${next}`;
    }
    return pages;
  }

  async batch(requests: unknown, key?: string): Promise<BatchResult[]> {
    const answer = await this.call('POST', '', { requests }, key);
    return (await answered<{ results: BatchResult[] }>(answer)).results;
  }

  async statuses(ids: string[], key?: string): Promise<(Status | null)[]> {
    const answer = await this.call('POST', '/status', { request_ids: ids }, key);
    return (await answered<{ results: (Status | null)[] }>(answer)).results;
  }

  async cancel(which: object, key?: string): Promise<Record<string, number | boolean>> {
    return answered(await this.call('POST', '/cancel', which, key));
  }

  retry(id: string, key?: string): Promise<Response> {
    return this.call('POST', `/${id}/retry`, undefined, key);
  }

  erase(id: string, key?: string): Promise<Response> {
    return this.call('DELETE', `/${id}`, undefined, key);
  }
}

async function answered<T>(response: Response): Promise<T> {
  const body = (await response.json()) as T;
  expect([response.status, body]).toEqual([200, expect.anything()]);
  return body;
}
