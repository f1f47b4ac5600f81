import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ServiceSecrets } from '../../auth/service-secrets.js';
import { root } from './prediction.js';

/** The right to read the output of one prediction, as a URL that needs no key: clients send none to it. */
@Injectable()
export class StreamUrls implements OnModuleInit {
  private secret: Buffer | undefined;

  constructor(private readonly secrets: ServiceSecrets) {}

  async onModuleInit(): Promise<void> {
    this.secret = await this.secrets.of('prediction_streams');
  }

  urlOf(base: string, requestId: string): string {
    const signature = this.sign(requestId).toString('base64url');
    return `${base}${root}/predictions/${requestId}/stream?signature=${signature}`;
  }

  isSigned(requestId: string, { signature }: { signature?: unknown }): boolean {
    const given = Buffer.from(typeof signature === 'string' ? signature : '', 'base64url');
    const own = this.sign(requestId);
    return given.length === own.length && timingSafeEqual(given, own);
  }

  private sign(requestId: string): Buffer {
    return createHmac('sha256', this.secret!).update(requestId).digest();
  }
}
