import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ServiceSecrets } from '../auth/service-secrets.js';
import { Clock } from '../database/clock.js';
import { DomainError } from '../errors/domain-error.js';

const lifeMs = 3_600_000;

/** The right to upload one file, as a URL: no key goes with it. */
@Injectable()
export class UploadUrls implements OnModuleInit {
  private secret: Buffer | undefined;

  constructor(
    private readonly secrets: ServiceSecrets,
    private readonly clock: Clock,
  ) {}

  async onModuleInit(): Promise<void> {
    this.secret = await this.secrets.of('uploads');
  }

  urlOf(base: string, fileId: string, contentType: string): string {
    const expires = String(Math.ceil((this.clock.now() + lifeMs) / 1_000));
    const signature = this.sign(fileId, expires, contentType).toString('base64url');
    const query = new URLSearchParams({ expires, type: contentType, signature });
    return `${base}/v1/storage/uploads/${fileId}?${query.toString()}`;
  }

  /** The content type that was announced; throws unless the URL is one of ours, and of this hour. */
  verify(fileId: string, query: Readonly<Record<string, unknown>>): string {
    const { expires, type, signature } = query;
    if (signature === undefined) throw new DomainError('unknown_file', 'There is no such upload.');
    const given = Buffer.from(typeof signature === 'string' ? signature : '', 'base64url');
    const isText = typeof expires === 'string' && typeof type === 'string';
    const own = this.sign(fileId, isText ? expires : '', isText ? type : '');
    if (!isText || given.length !== own.length || !timingSafeEqual(given, own)) {
      throw new DomainError('invalid_upload_url', 'The signature is not that of this upload.');
    }
    if (Number(expires) * 1_000 < this.clock.now()) {
      throw new DomainError('invalid_upload_url', 'The upload URL has expired.');
    }
    return type;
  }

  private sign(fileId: string, expires: string, contentType: string): Buffer {
    return createHmac('sha256', this.secret!).update(`${fileId}\n${expires}\n${contentType}`).digest();
  }
}
