import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { chargesOf } from '../charges.js';

const compress = promisify(gzip);

/** A version that was not asked for in this time, in milliseconds, makes room for another base. */
const unusedMs = 600_000;
const maxVersions = 4;

/** Placeholder in a template for the base of the service's URLs. */
export const basePlaceholder = 'http://base.invalid';

interface Version {
  text: Buffer;
  usedAt: number;
  compressed?: Buffer;
}

/**
 * A JSON document that is made once and served many times, with an ETag and compressed. Its versions differ only in the
 * base of the URLs, which a caller chooses by the Host field. Making a version takes time on the event loop, so only a
 * few are kept. For any other base the URLs are relative.
 */
export class DocumentTemplate {
  private readonly pieces: readonly string[];
  private readonly tag: string;
  private readonly versions = new Map<string, Version>();
  private readonly relative: Version;
  private isCompressing = false;

  /** `text`: JSON with `basePlaceholder` in place of the base. */
  constructor(text: string) {
    this.pieces = text.split(basePlaceholder);
    this.tag = digest(text);
    this.relative = version(text.replaceAll(`"${basePlaceholder}"`, '"/"').replaceAll(basePlaceholder, ''));
  }

  async send(request: Request, response: Response, base: string): Promise<void> {
    response.setHeader('Cache-Control', 'no-cache'); // clients may cache it, but must revalidate it each time
    response.setHeader('Vary', 'Accept-Encoding');
    const compresses = request.acceptsEncodings('gzip', 'identity') === 'gzip';
    const found = this.versionFor(base);
    const shownBase = found === this.relative ? '' : base;
    const etag = `"${this.tag}-${digest(shownBase)}${compresses ? '-gzip' : ''}"`;
    response.setHeader('ETag', etag);
    if (isKnown(request, etag)) return void response.status(304).end();
    if (compresses) await this.compress(found);
    const { text, compressed } = found;
    const body = compresses && compressed !== undefined ? compressed : text;
    chargesOf(request)?.reserveAnswer(body.length);
    if (body === compressed) response.setHeader('Content-Encoding', 'gzip');
    response.type('application/json').setHeader('Content-Length', body.length);
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  private versionFor(base: string): Version {
    const now = performance.now();
    let known = this.versions.get(base);
    if (known === undefined) {
      for (const [other, { usedAt }] of this.versions)
        if (now - usedAt > unusedMs) this.versions.delete(other);
      if (this.versions.size >= maxVersions) return this.relative;
      known = version(this.pieces.join(JSON.stringify(base).slice(1, -1)));
      this.versions.set(base, known);
    }
    known.usedAt = now;
    return known;
  }

  /** Compresses one version at a time. Meanwhile another version is sent uncompressed. */
  private async compress(one: Version): Promise<void> {
    if (one.compressed !== undefined || this.isCompressing) return;
    this.isCompressing = true;
    try {
      one.compressed = await compress(one.text);
    } finally {
      this.isCompressing = false;
    }
  }
}

/** Returns whether the client has this version already. */
function isKnown({ headers }: Request, etag: string): boolean {
  const known = headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, '')) ?? [];
  return known.includes(etag) || known.includes('*');
}

function version(text: string): Version {
  return { text: Buffer.from(text), usedAt: 0 };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
