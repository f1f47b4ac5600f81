import type { IncomingMessage, ServerResponse } from 'node:http';
import { normalizeIp } from '@nestjs/throttler';
import type { Allowances, Hold, Resource } from '../allowances/allowances.js';
import type { ClientAddress } from './client-address.js';

/** Bodies and answers below this size are not charged, because a connection's own buffers take as much. */
const smallBytes = 16 * 1024;

const charges = Symbol('charges');

interface ChargedRequest extends IncomingMessage {
  [charges]?: Charges;
}

/** The services that all charges use. */
export interface ChargesContext {
  readonly allowances: Allowances;
  readonly addresses: ClientAddress;
}

/** The amounts that one exchange holds, charged to its caller's allowances until the exchange ends. */
export class Charges {
  private holder: string | undefined;
  private holds: Hold[] | undefined;
  private body: Hold | undefined;
  private answerBytes = 0;

  constructor(
    private readonly context: ChargesContext,
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
  ) {}

  /** The name of the caller: its key if known, otherwise the address of the client, an IPv6 address by its /64. */
  get name(): string {
    return (this.holder ??= `address:${normalizeIp(this.context.addresses.of(this.request))}`);
  }

  /** From here on the exchange is charged to this key. */
  chargeToKey(keyId: string): void {
    this.holder = `key:${keyId}`;
  }

  /** Charges a call without a key to the key of the request that it is about. */
  chargeToOwner(keyId: string): void {
    if (this.holder?.startsWith('key:') !== true) this.chargeToKey(keyId);
  }

  /** Holds the amount until the exchange ends or it is released. Throws `caller_busy` or `overloaded`. */
  take(resource: Resource, amount: number): Hold {
    return this.keep(this.context.allowances.take(this.name, resource, amount));
  }

  private keep(hold: Hold): Hold {
    // If the client has disconnected, no event would release the hold any more.
    if (this.response.closed || this.response.destroyed) hold.release();
    else if (this.holds === undefined) {
      this.holds = [hold];
      this.response.on('close', () => {
        for (const one of this.holds!) one.release();
      });
    } else this.holds.push(hold);
    return hold;
  }

  /** Counts `bytes` more of the body in memory, of `total` so far. */
  addBody(bytes: number, total: number): void {
    if (this.body !== undefined) this.body.grow(bytes);
    else if (total >= smallBytes) this.body = this.take('bytes', total);
  }

  /** Counts a body that is stored as it comes: up to `most` bytes of it are in memory at once. */
  addStoredBody(most: number): void {
    const { 'content-length': length = most } = this.request.headers;
    const bytes = Math.min(Number(length), most);
    if (bytes >= smallBytes) this.take('bytes', bytes);
  }

  /** The body is no longer in memory. */
  releaseBody(): void {
    this.body?.release();
  }

  /** Reserves room for an answer that is about to be read or written. Throws if there is none. */
  reserveAnswer(bytes: number): void {
    if (bytes < smallBytes || bytes <= this.answerBytes) return;
    this.take('bytes', bytes - this.answerBytes);
    this.answerBytes = bytes;
  }

  /**
   * Charges an answer that is being sent. Only a call that changes nothing (GET, HEAD) is refused if there is no room
   * for its answer, unless it had reserved room before. Any other has taken effect.
   */
  chargeAnswer(bytes: number): void {
    const isRead = this.request.method === 'GET' || this.request.method === 'HEAD';
    if (isRead && this.answerBytes === 0) return this.reserveAnswer(bytes);
    if (bytes < smallBytes || bytes <= this.answerBytes) return;
    this.keep(this.context.allowances.charge(this.name, 'bytes', bytes - this.answerBytes));
    this.answerBytes = bytes;
  }
}

export function setCharges(own: Charges): void {
  (own.request as ChargedRequest)[charges] = own;
}

/** undefined: the exchange did not come through the server of the service. */
export function chargesOf(request: ChargedRequest): Charges | undefined {
  return request[charges];
}
