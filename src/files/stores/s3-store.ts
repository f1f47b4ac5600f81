import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { AwsV4Signer } from 'aws4fetch';
import { readBeginning } from '../../outgoing/answer-body.js';
import type { CallFailure } from '../../outgoing/call-failure.js';
import { type Answer, Outgoing } from '../../outgoing/outgoing.js';
import { parseHttpDate } from '../../outgoing/retry-after.js';
import type { ByteRange, FileStore, Received, Written } from './file-store.js';
import { StorageUnavailable } from './storage-error.js';

/** SHA-256 of an empty body. */
const nothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const tries = 3;
const connectTimeoutMs = 10_000;
/** A call ends after this long without a byte in either direction. */
const silenceMs = 60_000;
/** S3 itself allows for 15 minutes between its clock and the time of a signature. */
const toleratedSkewMs = 60_000;
/** Bytes of an error that are read. */
const errorBytes = 16 * 1024;

export interface Bucket {
  bucket: string;
  prefix: string;
  /** undefined: the endpoint of Amazon. */
  endpoint: string | undefined;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
}

interface Spooled extends Written {
  path: string;
}

type Sign = (...options: ConstructorParameters<typeof AwsV4Signer>) => AwsV4Signer;

/**
 * Keeps files in a bucket. A file first comes to the disk and then goes up in one PUT, with its length and SHA-256
 * known. S3 checks the bytes against the hash, and a failed try is sent again. A crash leaves no part of a file to
 * clean up.
 */
export class S3Store implements FileStore, OnApplicationShutdown {
  private readonly root: string;
  private readonly outgoing = new Outgoing({ mayRepeat: true });
  private signing: Promise<Sign> | undefined;
  /** The milliseconds by which the store's clock is ahead of this machine's, as far as a refusal has shown it. */
  private aheadMs = 0;

  constructor(private readonly at: Bucket) {
    const { bucket, prefix, endpoint, region } = at;
    const base =
      endpoint === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint}/${bucket}`;
    this.root = prefix === '' ? base : `${base}/${prefix}`;
  }

  async store(name: string, part: Received): Promise<Written> {
    const written = await part.settle();
    await this.put(name, { ...written, path: part.path });
    await part.discard();
    return written;
  }

  async read(name: string, { start, end }: ByteRange): Promise<Readable | undefined> {
    // An empty file has no range.
    const range = end < start ? undefined : `bytes=${start}-${end}`;
    const answer = await this.call('GET', name, { ...(range !== undefined && { range }) });
    // A store without ranges answers with the whole file.
    if (answer.status === 206 || (answer.status === 200 && start === 0)) return answer.body;
    if (answer.status === 404) return void answer.body.resume();
    throw await refused(answer);
  }

  async remove(name: string): Promise<void> {
    const answer = await this.call('DELETE', name);
    if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404) throw await refused(answer);
    answer.body.resume();
  }

  place(): Promise<string> {
    const { bucket, prefix } = this.at;
    return Promise.resolve(join(`s3:${bucket}`, prefix));
  }

  claimPlace(): Promise<string> {
    return this.place();
  }

  onApplicationShutdown(): void {
    this.outgoing.connections.close();
  }

  private async put(name: string, { path, size, sha256 }: Spooled): Promise<void> {
    for (let tried = 1; ; tried++) {
      try {
        const fields = { 'content-length': String(size), 'content-type': 'application/octet-stream' };
        const answer = await this.call('PUT', name, fields, { path, sha256 });
        if (answer.status !== 200) throw await refused(answer);
        answer.body.resume();
        return;
      } catch (error) {
        if (tried === tries) throw error;
      }
    }
  }

  private async call(
    method: string,
    name: string,
    fields: Record<string, string> = {},
    body?: Pick<Spooled, 'path' | 'sha256'>,
  ): Promise<Answer> {
    this.signing ??= import('aws4fetch').then(
      ({ AwsV4Signer: Signer }) =>
        (options) =>
          new Signer(options),
    );
    const { region, accessKeyId, secretAccessKey, sessionToken } = this.at;
    const signedAtMs = Date.now() + this.aheadMs;
    const signer = (await this.signing)({
      method,
      url: `${this.root}/${name}`,
      service: 's3',
      region,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      datetime: new Date(signedAtMs).toISOString().replace(/[:-]|\.\d+/g, ''),
      headers: { ...fields, 'x-amz-content-sha256': body?.sha256.toString('hex') ?? nothing },
    });
    const { url, headers } = await signer.sign();
    const answer = await this.send(method, url, Object.fromEntries(headers), body?.path);
    if (answer.status !== 403 || !this.setClock(answer, signedAtMs)) return answer;
    answer.body.resume();
    return this.call(method, name, fields, body);
  }

  /** Returns false if the store's clock does not differ from the time of the signature. */
  private setClock({ headers: { date = '' } }: Answer, signedAtMs: number): boolean {
    const ms = parseHttpDate(date);
    if (!(Math.abs(ms - signedAtMs) > toleratedSkewMs)) return false;
    this.aheadMs = ms - Date.now();
    return true;
  }

  /** Resolves with the head of the answer. */
  private async send(
    method: string,
    url: URL,
    headers: Record<string, string>,
    path?: string,
  ): Promise<Answer> {
    try {
      return await this.outgoing.call({
        method,
        url: url.href,
        headers,
        ...(path !== undefined && { body: () => createReadStream(path) }),
        connectTimeoutMs,
        silenceMs,
      });
    } catch (error) {
      const { code = 'no answer', cause } = error as CallFailure;
      throw new StorageUnavailable('away', `The file store cannot be reached (${code}).`, cause);
    }
  }
}

/** Turns an answer into an error. The text of the store goes to the log, not to the client. */
async function refused({ status, body }: Answer): Promise<StorageUnavailable> {
  const text = (await readBeginning(body, errorBytes)).toString();
  const said = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1] ?? '';
  const cause = new Error(`the file store answered ${status} ${said}`);
  const isFull = status === 507 || said === 'QuotaExceeded' || said === 'XMinioStorageFull';
  if (isFull) return new StorageUnavailable('full', 'The file store has no room left for this file.', cause);
  return new StorageUnavailable('away', `The file store answered ${status}.`, cause);
}
