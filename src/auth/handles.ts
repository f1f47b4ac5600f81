import { type Cipher, createCipheriv, createDecipheriv, type Decipher } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { parse, stringify } from 'uuid';
import { Redaction } from '../tools/redaction.js';
import { type Caller, hasScope } from './caller.js';
import { ServiceSecrets } from './service-secrets.js';

const handle = /^rh_[\w-]{22}$/;

/**
 * Stand-ins for the ids of requests. An id is the right to read and cancel, so callers that may not see payloads are
 * shown handles, which only /v1/admin takes. A handle is the id as one enciphered block, so it is always the same for a
 * request. A handle that was made up leads to an id that no request has.
 */
@Injectable()
export class Handles implements OnModuleInit {
  /** Each works block by block and is used again, because making one takes longer than a block. */
  private cipher: Cipher | undefined;
  private decipher: Decipher | undefined;

  constructor(
    private readonly secrets: ServiceSecrets,
    private readonly redaction: Redaction,
  ) {}

  /** Once this is done, the log shows handles. */
  async onModuleInit(): Promise<void> {
    const secret = await this.secrets.of('handles');
    this.cipher = createCipheriv('aes-256-ecb', secret, null).setAutoPadding(false);
    this.decipher = createDecipheriv('aes-256-ecb', secret, null).setAutoPadding(false);
    this.redaction.useHandles((id) => this.handleOf(id));
  }

  /** Returns the id if the caller may see payloads, otherwise its handle. */
  shown(caller: Pick<Caller, 'scopes'>, requestId: string): string {
    return hasScope(caller, 'payloads') ? requestId : this.handleOf(requestId);
  }

  handleOf(requestId: string): string {
    return `rh_${this.cipher!.update(parse(requestId)).toString('base64url')}`;
  }

  /** Returns the id of an id or a handle. Any other text is returned as it is, and leads to no request. */
  idOf(idOrHandle: string): string {
    if (!handle.test(idOrHandle)) return idOrHandle;
    const block = Buffer.from(idOrHandle.slice(3), 'base64url');
    try {
      return stringify(this.decipher!.update(block));
    } catch {
      return idOrHandle;
    }
  }
}
