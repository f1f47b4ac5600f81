import { keyHeader } from './queue-calls.js';

/** A model as operators see it. */
export interface AdminModel {
  id: string;
  kind: string;
  order: string;
  concurrency: Overridden<number>;
  paused: Overridden<false | 'hold' | 'reject'>;
  availability: string;
  group: { id: string; concurrency: number; running: number } | null;
}

interface Overridden<T> {
  current: T;
  base: T;
  override: T | null;
  overridden_at: string | null;
  overridden_by: string | null;
}

/** An operator's calls about models. */
export class ModelAdminCalls {
  /** `at`: the address of the service, and the key to use. */
  constructor(private readonly at: { url: string; key: string }) {}

  call(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.at.url}/v1/admin/${path}`, {
      method,
      headers: { ...keyHeader(this.at.key), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async change(model: string, body: object): Promise<AdminModel> {
    const response = await this.call('PATCH', `models/${model}`, body);
    const answer = (await response.json()) as AdminModel;
    expect([response.status, answer]).toEqual([200, expect.anything()]);
    return answer;
  }

  async model(model: string): Promise<AdminModel> {
    return (await (await this.call('GET', `models/${model}`)).json()) as AdminModel;
  }
}
