import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { parseAuthorization } from './authorization.js';
import type { Caller } from './caller.js';
import { KeysService } from './keys.service.js';

/** What the `Authorization` of a call turned out to be. */
export type Resolution =
  { kind: 'anonymous' } | { kind: 'invalid'; reason: string } | { kind: 'caller'; caller: Caller };

const anonymous: Resolution = { kind: 'anonymous' };
const invalid: Resolution = { kind: 'invalid', reason: 'This API key is unknown, revoked or expired.' };

const resolution = Symbol('resolution');

interface ResolvedRequest extends IncomingMessage {
  [resolution]?: Promise<Resolution>;
}

/** Finds out who makes an HTTP call, once a call, without judging it: that is for the guards. */
@Injectable()
export class CallerResolver {
  constructor(private readonly keys: KeysService) {}

  resolve(request: ResolvedRequest): Promise<Resolution> {
    return (request[resolution] ??= this.look(request.headers.authorization));
  }

  private async look(header: string | undefined): Promise<Resolution> {
    const presented = parseAuthorization(header);
    if (presented.kind === 'nothing') return anonymous;
    if (presented.kind === 'malformed') return { kind: 'invalid', reason: presented.reason };
    const caller = await this.keys.find(presented.secret);
    return caller === undefined ? invalid : { kind: 'caller', caller };
  }
}
