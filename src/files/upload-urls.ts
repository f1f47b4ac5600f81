import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ServiceSecrets } from '../auth/service-secrets.js';
import { Clock } from '../database/clock.js';
import { DomainError } from '../errors/domain-error.js';

const lifeMs = 3_600_000;

export interface Announced {
  contentType: string;
  /** The file is the output of a run, whose work is done, so no quota refuses it. */
  isOutput: boolean;
}

/** The right to upload one file, as a URL that needs no key. */
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

  urlOf(base: string, fileId: string, { contentType, isOutput }: Announced): string {
    const expires = String(Math.ceil((this.clock.now() + lifeMs) / 1_000));
    const signature = this.sign(fileId, expires, { contentType, isOutput }).toString('base64url');
    const of = isOutput && { of: 'output' };
    const query = new URLSearchParams({ expires, type: contentType, ...of, signature });
    return `${base}/v1/storage/uploads/${fileId}?${query.toString()}`;
  }

  /** Returns what was announced. Throws unless the URL was signed here and has not expired; it lives an hour. */
  verify(fileId: string, query: Readonly<Record<string, unknown>>): Announced {
    const { expires, type, of, signature } = query;
    if (signature === undefined) throw new DomainError('unknown_file', 'There is no such upload.');
    const given = Buffer.from(typeof signature === 'string' ? signature : '', 'base64url');
    const isText = typeof expires === 'string' && typeof type === 'string';
    const announced = { contentType: isText ? type : '', isOutput: of === 'output' };
    const own = this.sign(fileId, isText ? expires : '', announced);
    if (!isText || given.length !== own.length || !timingSafeEqual(given, own)) {
      throw new DomainError('invalid_upload_url', 'The signature does not match this upload.');
    }
    if (Number(expires) * 1_000 < this.clock.now()) {
      throw new DomainError('invalid_upload_url', 'The upload URL has expired.');
    }
    return announced;
  }

  private sign(fileId: string, expires: string, { contentType, isOutput }: Announced): Buffer {
    const text = `${fileId}\n${expires}\n${contentType}${isOutput ? '\noutput' : ''}`;
    return createHmac('sha256', this.secret!).update(text).digest();
  }
}
