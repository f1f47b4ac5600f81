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

/** What one exchange holds, charged to its caller's allowances until the exchange ends. */
export class Charges {
  private holder: string | undefined;
  private holds: Hold[] | undefined;
  private body: Hold | undefined;
  private answer: Hold | undefined;
  private answerBytes = 0;

  constructor(
    private readonly allowances: Allowances,
    private readonly addresses: ClientAddress,
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {}

  /** The caller: a key where one is known, else the address of the client, an IPv6 address by its /64. */
  get name(): string {
    return (this.holder ??= `address:${normalizeIp(this.addresses.of(this.request))}`);
  }

  /** From here on the exchange is charged to this key. */
  chargeToKey(keyId: string): void {
    this.holder = `key:${keyId}`;
  }

  /** Held until the exchange ends, or is released before. Throws `caller_busy` or `overloaded`. */
  take(resource: Resource, amount: number): Hold {
    const hold = this.allowances.take(this.name, resource, amount);
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

  /** An answer of so many bytes is about to be in memory. Called again with the exact size, it takes the difference. */
  reserveAnswer(bytes: number): void {
    if (bytes < smallBytes) return;
    if (this.answer === undefined) this.answer = this.take('bytes', bytes);
    else this.answer.grow(bytes - this.answerBytes);
    this.answerBytes = Math.max(bytes, this.answerBytes);
  }
}

export function setCharges(request: ChargedRequest, own: Charges): void {
  request[charges] = own;
}

/** undefined: the exchange did not come through the server of the service. */
export function chargesOf(request: ChargedRequest): Charges | undefined {
  return request[charges];
}
