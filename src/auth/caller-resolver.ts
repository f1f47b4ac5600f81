import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { parseAuthorization } from './authorization.js';
import type { Caller } from './caller.js';
import { hashOf } from './key-secret.js';
import { KeysService } from './keys.service.js';

/** What the `Authorization` of a call turned out to be. */
export type Resolution =
  { kind: 'anonymous' } | { kind: 'invalid'; reason: string } | { kind: 'caller'; caller: Caller };

const anonymous: Resolution = { kind: 'anonymous' };
const invalid: Resolution = { kind: 'invalid', reason: 'This API key is unknown, revoked or expired.' };

const resolution = Symbol('resolution');

interface ResolvedRequest extends IncomingMessage {
  [resolution]?: Resolution | Promise<Resolution>;
}

/** Finds out who makes an HTTP call, once a call, without judging it: that is for the guards. */
@Injectable()
export class CallerResolver {
  /** What the last call on a connection presented: the next is most often the same client's. */
  private readonly last = new WeakMap<Socket, { header: string; hash: string }>();

  constructor(private readonly keys: KeysService) {}

  /** At once if the key is known here. */
  resolve(request: ResolvedRequest): Resolution | Promise<Resolution> {
    return (request[resolution] ??= this.look(request));
  }

  private look({
    headers: { authorization: header },
    socket,
  }: IncomingMessage): Resolution | Promise<Resolution> {
    const last = this.last.get(socket);
    if (last !== undefined && last.header === header) return this.find(last.hash);
    const presented = parseAuthorization(header);
    if (presented.kind === 'nothing') return anonymous;
    if (presented.kind === 'malformed') return { kind: 'invalid', reason: presented.reason };
    const hash = hashOf(presented.secret);
    this.last.set(socket, { header: header!, hash });
    return this.find(hash);
  }

  private find(hash: string): Resolution | Promise<Resolution> {
    const found = this.keys.holder(hash);
    return found instanceof Promise ? found.then(toResolution) : toResolution(found);
  }
}

function toResolution(caller: Caller | undefined): Resolution {
  return caller === undefined ? invalid : { kind: 'caller', caller };
}
