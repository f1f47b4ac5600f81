import type { ServiceNode } from '../cluster/service-node.js';

export type RouteClass = 'submit' | 'other';

/** Limits as RATE_LIMIT_SUBMIT and RATE_LIMIT_OTHER have them. */
export type Limits = Readonly<Record<RouteClass, string>>;

/** The limits of `npm start`. */
export const shippedLimits: Limits = { submit: '10/s,100/m', other: '100/s,1800/m' };

/** One call, which was admitted or refused at some time between its sending and its answer. */
export interface LimitedCall {
  sentAt: number;
  answeredAt: number;
  node: ServiceNode;
  /** `unknown`: no answer, or a 5xx. */
  result: 'admitted' | 'refused' | 'unknown';
  /** The names of the windows that were full; set for refused calls only. */
  violated: readonly string[];
}

/** A subject whose calls are counted together: a key, or an address without one. */
export class Caller {
  readonly calls: Readonly<Record<RouteClass, LimitedCall[]>> = { submit: [], other: [] };
  /** The id of its row in `api_key`. */
  keyId = '';

  constructor(
    readonly name: string,
    readonly identity: { readonly key: string } | { readonly address: string },
    readonly limits: Limits = shippedLimits,
  ) {}

  /** Empty: the caller has no key. */
  get key(): string {
    return 'key' in this.identity ? this.identity.key : '';
  }

  get headers(): Record<string, string> {
    return 'key' in this.identity
      ? { authorization: `Key ${this.identity.key}` }
      : { 'x-forwarded-for': this.identity.address };
  }
}
