import type { IncomingMessage, ServerResponse } from 'node:http';
import { normalizeIp } from '@nestjs/throttler';
import type { Allowances, Hold, Resource } from '../allowances/allowances.js';
import type { ClientAddress } from './client-address.js';

/** Bodies and answers below this size are not charged: a connection's own buffers take as much. */
const smallBytes = 16 * 1024;

const charges = Symbol('charges');

interface ChargedRequest extends IncomingMessage {
  [charges]?: Charges;
}

/** What all charges need. */
export interface ChargesContext {
  readonly allowances: Allowances;
  readonly addresses: ClientAddress;
}

/** What one exchange holds, charged to its caller's allowances until the exchange ends. */
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

  /** The caller: a key where one is known, else the address of the client, an IPv6 address by its /64. */
  get name(): string {
    return (this.holder ??= `address:${normalizeIp(this.context.addresses.of(this.request))}`);
  }

  /** From here on the exchange is charged to this key. */
  chargeToKey(keyId: string): void {
    this.holder = `key:${keyId}`;
  }

  /** Held until the exchange ends, or is released before. Throws `caller_busy` or `overloaded`. */
  take(resource: Resource, amount: number): Hold {
    return this.keep(this.context.allowances.take(this.name, resource, amount));
  }

  private keep(hold: Hold): Hold {
    // A client that has disconnected ends nothing any more.
    if (this.response.closed || this.response.destroyed) hold.release();
    else if (this.holds === undefined) {
      this.holds = [hold];
      this.response.on('close', () => {
        for (const one of this.holds!) one.release();
      });
    } else this.holds.push(hold);
    return hold;
  }

  /** `bytes` more of the body are in memory, of `total` so far. */
  addBody(bytes: number, total: number): void {
    if (this.body !== undefined) this.body.grow(bytes);
    else if (total >= smallBytes) this.body = this.take('bytes', total);
  }

  /** The body is in memory no longer. */
  releaseBody(): void {
    this.body?.release();
  }

  /** An answer of this size is about to be read. Throws where there is no room for it. */
  reserveAnswer(bytes: number): void {
    if (bytes < smallBytes || bytes <= this.answerBytes) return;
    this.take('bytes', bytes - this.answerBytes);
    this.answerBytes = bytes;
  }

  /** An answer of this size is sent: the call has taken effect, so it is not refused any more. */
  chargeAnswer(bytes: number): void {
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
