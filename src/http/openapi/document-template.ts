import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { BoundedCache } from '../../tools/bounded-cache.js';
import { chargesOf } from '../charges.js';

const compress = promisify(gzip);

/** Stands in a template where the base of the service's URLs goes. */
export const basePlaceholder = 'http://base.invalid';

interface Version {
  text: Buffer;
  compressed?: Buffer;
}

/**
 * A JSON document that is made once and served to many, with an ETag and compressed. It differs by the base of the URLs in
 * it alone, which a caller chooses by the field Host: only a few versions are kept.
 */
export class DocumentTemplate {
  private readonly pieces: readonly string[];
  private readonly tag: string;
  private readonly versions: BoundedCache<Version>;
  private isCompressing = false;

  /** `text`: JSON, with `basePlaceholder` where the base goes. `maxVersions`: how many are kept. */
  constructor(text: string, maxVersions: number) {
    this.pieces = text.split(basePlaceholder);
    this.tag = digest(text);
    this.versions = new BoundedCache(maxVersions);
  }

  async send(request: Request, response: Response, base: string): Promise<void> {
    response.setHeader('Cache-Control', 'no-cache'); // kept, but asked for each time whether it has changed
    response.setHeader('Vary', 'Accept-Encoding');
    const compresses = request.acceptsEncodings('gzip', 'identity') === 'gzip';
    const etag = `"${this.tag}-${digest(base)}${compresses ? '-gzip' : ''}"`;
    response.setHeader('ETag', etag);
    if (isKnown(request, etag)) return void response.status(304).end();
    const version = this.versionFor(base);
    if (compresses) await this.compress(version);
    const { text, compressed } = version;
    const body = compresses && compressed !== undefined ? compressed : text;
    chargesOf(request)?.reserveAnswer(body.length);
    if (body === compressed) response.setHeader('Content-Encoding', 'gzip');
    response.type('application/json').setHeader('Content-Length', body.length);
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  private versionFor(base: string): Version {
    const known = this.versions.get(base, 0);
    if (known !== undefined) return known;
    const version = { text: Buffer.from(this.pieces.join(JSON.stringify(base).slice(1, -1))) };
    this.versions.set(base, version, Infinity);
    return version;
  }

  /** One at a time: while another version is compressed, this one is sent as it is. */
  private async compress(version: Version): Promise<void> {
    if (version.compressed !== undefined || this.isCompressing) return;
    this.isCompressing = true;
    try {
      version.compressed = await compress(version.text);
    } finally {
      this.isCompressing = false;
    }
  }
}

/** Whether the client has this version already. */
function isKnown({ headers }: Request, etag: string): boolean {
  const known = headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, '')) ?? [];
  return known.includes(etag) || known.includes('*');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
