import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { ClientAddress } from '../http/client-address.js';
import { CallerFinder } from './caller-finder.js';
import type { Caller } from './caller.js';
import { hashOf } from './key-secret.js';
import { forgeryIn, sessionHash, sessionToken } from './session-cookie.js';

export type Resolution =
  | { kind: 'anonymous' }
  /** The key that was sent is malformed or not valid. */
  | { kind: 'invalid'; reason: string }
  /**
   * The cookie may have been sent on behalf of another site. `caller`: the caller of the session; undefined: the
   * session is over.
   */
  | { kind: 'forged'; reason: string; caller: Caller | undefined }
  | { kind: 'caller'; caller: Caller };

const anonymous: Resolution = { kind: 'anonymous' };
const unknown = invalid('This API key is unknown, revoked or expired.');

const resolution = Symbol('resolution');

interface ResolvedRequest extends IncomingMessage {
  [resolution]?: Resolution | Promise<Resolution>;
}

/** Finds whose key an HTTP call brings, once per call. It does not judge the call; the guards do. */
@Injectable()
export class CallerResolver {
  /** The header of the last call on a connection, and its hash. The next call is most often from the same client. */
  private readonly last = new WeakMap<Socket, { header: string; hash: string }>();

  constructor(
    private readonly finder: CallerFinder,
    private readonly addresses: ClientAddress,
  ) {}

  /** Synchronous if the key is known here. */
  resolve(request: ResolvedRequest): Resolution | Promise<Resolution> {
    return (request[resolution] ??= this.resolveAnew(request));
  }

  /** Returns the caller of a key that was given in another way. undefined: the text is no key, or no valid one. */
  async ofKey(text: string): Promise<Caller | undefined> {
    return isSecret(text) ? this.finder.find(hashOf(text)) : undefined;
  }

  /** Without the database: returns the caller of a key that may observe and was valid when it was last looked up. */
  observerWithoutDatabase({ headers: { authorization } }: IncomingMessage): Caller | undefined {
    const presented = authorization === undefined ? undefined : parseAuthorization(authorization);
    return typeof presented === 'string' ? this.finder.findWithoutDatabase(hashOf(presented)) : undefined;
  }

  /** Returns the hash under which the finder knows the call's key or session. undefined: the call presents neither. */
  hashOf(request: IncomingMessage): string | undefined {
    const presented = this.presented(request);
    return typeof presented === 'string' ? presented : undefined;
  }

  /** Returns the resolution of a call whose key or session is this caller's. undefined: it is no longer valid. */
  resolvedAs(request: IncomingMessage, caller: Caller | undefined): Resolution {
    if (request.headers.authorization !== undefined) return toResolution(caller);
    const forgery = forgeryIn(request, this.addresses.baseUrl(request));
    return forgery === undefined ? ofSession(caller) : { kind: 'forged', reason: forgery, caller };
  }

  /** Resolves a call again that has been open for long, because its key may be revoked by now. */
  resolveAnew(request: IncomingMessage): Resolution | Promise<Resolution> {
    const presented = this.presented(request);
    if (typeof presented !== 'string') return presented;
    const found = this.finder.find(presented);
    return found instanceof Promise
      ? found.then((caller) => this.resolvedAs(request, caller))
      : this.resolvedAs(request, found);
  }

  /** Returns the hash of its key or of its session's token. */
  private presented(request: IncomingMessage): string | Resolution {
    const { socket, headers } = request;
    const { authorization: header } = headers;
    if (header === undefined)
      return headers.cookie === undefined ? anonymous : this.presentedSession(request);
    const last = this.last.get(socket);
    if (last !== undefined && last.header === header) return last.hash;
    const presented = parseAuthorization(header);
    if (typeof presented !== 'string') return presented;
    const hash = hashOf(presented);
    this.last.set(socket, { header, hash });
    return hash;
  }

  /** A session that is over counts as no session, because the call may not need one. */
  private presentedSession(request: IncomingMessage): string | Resolution {
    const token = sessionToken(request, this.addresses.baseUrl(request));
    return token === undefined ? anonymous : sessionHash(token);
  }
}

/** No API key is shorter. */
const minKeyLength = 16;

/**
 * Returns the secret of `Key <key>`, `Bearer <key>` or `Token <key>`, with the scheme in upper or lower case, or of a key
 * without a scheme, as scripts for other services send it. No reason repeats what was sent.
 */
export function parseAuthorization(header: string): string | Resolution {
  const text = header.trim();
  const end = text.search(/\s/);
  if (end === -1 && text.length >= minKeyLength && isSecret(text)) return text;
  const scheme = end === -1 ? text : text.slice(0, end);
  if (!/^(key|bearer|token)$/i.test(scheme)) {
    return invalid('The Authorization header must be "Bearer <API key>" or "Key <API key>".');
  }
  const secret = end === -1 ? '' : text.slice(end).trim();
  if (!isSecret(secret)) {
    return invalid(`The Authorization header has no API key after "${scheme}".`);
  }
  return secret;
}

const isSecret = (text: string): boolean => /^[\x21-\x7e]{1,512}$/.test(text);

function invalid(reason: string): Resolution {
  return { kind: 'invalid', reason };
}

function ofSession(caller: Caller | undefined): Resolution {
  return caller === undefined ? anonymous : { kind: 'caller', caller };
}

function toResolution(caller: Caller | undefined): Resolution {
  return caller === undefined ? unknown : { kind: 'caller', caller };
}
