import { createCipheriv, createDecipheriv } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { parse, stringify } from 'uuid';
import { type Caller, hasScope } from './caller.js';
import { ServiceSecrets } from './service-secrets.js';

const handle = /^rh_[\w-]{22}$/;

/**
 * Stand-ins for the ids of requests. An id is the right to read and cancel, so who may not see payloads is shown
 * handles, which only /v1/admin takes. A handle is the id as one enciphered block: always the same for a request, and
 * one that was made up leads to an id that nobody has.
 */
@Injectable()
export class Handles implements OnModuleInit {
  private secret: Buffer | undefined;

  constructor(private readonly secrets: ServiceSecrets) {}

  async onModuleInit(): Promise<void> {
    this.secret = await this.secrets.of('handles');
  }

  /** The id where the caller may see payloads, else its handle. */
  shown(caller: Pick<Caller, 'scopes'>, requestId: string): string {
    return hasScope(caller, 'payloads') ? requestId : this.handleOf(requestId);
  }

  handleOf(requestId: string): string {
    const cipher = createCipheriv('aes-256-ecb', this.secret!, null).setAutoPadding(false);
    return `rh_${Buffer.concat([cipher.update(parse(requestId)), cipher.final()]).toString('base64url')}`;
  }

  /** Of an id or a handle; what is neither is handed back as it is, and leads to no request. */
  idOf(idOrHandle: string): string {
    if (!handle.test(idOrHandle)) return idOrHandle;
    const decipher = createDecipheriv('aes-256-ecb', this.secret!, null).setAutoPadding(false);
    const block = Buffer.from(idOrHandle.slice(3), 'base64url');
    try {
      return stringify(Buffer.concat([decipher.update(block), decipher.final()]));
    } catch {
      return idOrHandle;
    }
  }
}
