import type { ServiceNode } from '../cluster/service-node.js';

export type RouteClass = 'submit' | 'other';

/** As in RATE_LIMIT_SUBMIT and RATE_LIMIT_OTHER. */
export type Limits = Readonly<Record<RouteClass, string>>;

/** What `npm start` has. */
export const shippedLimits: Limits = { submit: '10/s,100/m', other: '100/s,1800/m' };

/** One call, which was admitted or refused at some time between its sending and its answer. */
export interface LimitedCall {
  sentAt: number;
  answeredAt: number;
  node: ServiceNode;
  /** Unknown: no answer, or a 5xx. */
  result: 'admitted' | 'refused' | 'unknown';
  /** The names of the windows that were full; of a refused call only. */
  violated: readonly string[];
}

/** Whose calls are counted together: a key, or an address without one. */
export class Caller {
  readonly calls: Readonly<Record<RouteClass, LimitedCall[]>> = { submit: [], other: [] };
  /** Of its row in `api_key`. */
  keyId = '';

  constructor(
    readonly name: string,
    readonly identity: { readonly key: string } | { readonly address: string },
    readonly limits: Limits = shippedLimits,
  ) {}

  /** Empty: it has none. */
  get key(): string {
    return 'key' in this.identity ? this.identity.key : '';
  }

  get headers(): Record<string, string> {
    return 'key' in this.identity
      ? { authorization: `Key ${this.identity.key}` }
      : { 'x-forwarded-for': this.identity.address };
  }
}
