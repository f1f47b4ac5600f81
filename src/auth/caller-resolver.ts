import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { CallerFinder } from './caller-finder.js';
import type { Caller } from './caller.js';
import { hashOf } from './key-secret.js';

export type Resolution =
  { kind: 'anonymous' } | { kind: 'invalid'; reason: string } | { kind: 'caller'; caller: Caller };

const anonymous: Resolution = { kind: 'anonymous' };
const unknown = invalid('This API key is unknown, revoked or expired.');

const resolution = Symbol('resolution');

interface ResolvedRequest extends IncomingMessage {
  [resolution]?: Resolution | Promise<Resolution>;
}

/** Finds out whose key an HTTP call brings, once a call, without judging it: that is for the guards. */
@Injectable()
export class CallerResolver {
  /** What the last call on a connection presented: the next is most often the same client's. */
  private readonly last = new WeakMap<Socket, { header: string; hash: string }>();

  constructor(private readonly finder: CallerFinder) {}

  /** At once if the key is known here. */
  resolve(request: ResolvedRequest): Resolution | Promise<Resolution> {
    return (request[resolution] ??= this.look(request.headers.authorization, request.socket));
  }

  private look(header: string | undefined, socket: Socket): Resolution | Promise<Resolution> {
    if (header === undefined) return anonymous;
    const last = this.last.get(socket);
    if (last !== undefined && last.header === header) return this.find(last.hash);
    const presented = parseAuthorization(header);
    if (typeof presented !== 'string') return presented;
    const hash = hashOf(presented);
    this.last.set(socket, { header, hash });
    return this.find(hash);
  }

  private find(hash: string): Resolution | Promise<Resolution> {
    const found = this.finder.find(hash);
    return found instanceof Promise ? found.then(toResolution) : toResolution(found);
  }
}

/** The secret of `Key <key>` or `Bearer <key>`, the scheme in any case. No reason repeats what was sent. */
export function parseAuthorization(header: string): string | Resolution {
  const [, scheme, secret] = /^\s*(\S+)(?:\s+(.*?))?\s*$/s.exec(header) ?? [];
  if (scheme === undefined || !/^(key|bearer)$/i.test(scheme)) {
    return invalid('The Authorization header must be "Key <API key>".');
  }
  if (secret === undefined || !/^[\x21-\x7e]{1,512}$/.test(secret)) {
    return invalid(`The Authorization header has no API key after "${scheme}".`);
  }
  return secret;
}

function invalid(reason: string): Resolution {
  return { kind: 'invalid', reason };
}

function toResolution(caller: Caller | undefined): Resolution {
  return caller === undefined ? unknown : { kind: 'caller', caller };
}
