import { KeysService, type NewKey } from '../../src/auth/keys.service.js';
import type { TestService } from './index.js';
import { keyHeader } from './queue-calls.js';

export interface Via {
  /** null: no key. Default: the service's own key, which has all scopes. */
  key?: string | null;
  /** A cookie as `signIn` sets it. */
  cookie?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

/** The headers that a browser adds to the console's own calls. */
export const fromConsole = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };

/** Calls of /v1/admin, with a key or as a browser makes them. */
export class AdminCalls {
  constructor(readonly service: TestService) {}

  call(method: string, path: string, { key, cookie, headers, body }: Via = {}): Promise<Response> {
    const own = cookie === undefined ? this.service.key : null;
    const sent = key === undefined ? own : key;
    return fetch(`${this.service.url}/v1/admin${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(sent !== null && keyHeader(sent)),
        ...(cookie !== undefined && { cookie, ...fromConsole }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  async json<T>(method: string, path: string, via?: Via): Promise<T> {
    const response = await this.call(method, path, via);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** Returns the rows of all pages of a list. */
  async all<Row>(path: string, via?: Via): Promise<Row[]> {
    const rows: Row[] = [];
    for (let query = ''; ;) {
      const { data, next_cursor: next } = await this.json<Page<Row>>('GET', query === '' ? path : query, via);
      rows.push(...data);
      if (next === null) return rows;
      query = `${path.split('?', 1)[0]}?cursor=${next}`;
    }
  }

  async newKey(key: Partial<NewKey> = {}): Promise<{ id: string; key: string }> {
    const { id, secret } = await this.service.app.get(KeysService).make({ name: 'another', ...key });
    return { id, key: secret.reveal() };
  }

  /** Signs in as the console in a browser does. */
  signIn(body: object, via: Via = {}): Promise<Response> {
    return this.call('POST', '/session', {
      key: null,
      ...via,
      headers: { ...fromConsole, ...via.headers },
      body,
    });
  }

  /** Signs in and returns the cookie that a browser would then send. */
  async cookie(key: string = this.service.key): Promise<string> {
    return cookieIn(await this.signIn({ key }));
  }
}

export function cookieIn(response: Response): string {
  const [set] = response.headers.getSetCookie();
  if (set === undefined) throw new Error(`${response.status} sets no cookie`);
  return set.split(';', 1)[0]!;
}
