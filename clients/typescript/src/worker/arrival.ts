import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Deadline } from '../deadline.js';
import { isFramed } from '../transport.js';
import { Broken } from './failures.js';

export interface Answered {
  response: Response;
  /** True if the service itself answered. */
  isOurs: boolean;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Requests the file. `fields` are the header fields of a range request. `deadline` ends the call. */
export type Ask = (fields: Record<string, string>, deadline: Deadline) => Promise<Answered>;

/** A download that gets no answer, or no further byte, for this long has broken. */
export const silenceMs = 60_000;

/**
 * The bytes of a file received so far: in memory, or in a temporary file beside the target until the file is complete.
 */
export class Arrival {
  private readonly chunks: Uint8Array[] = [];
  private hash = createHash('sha256');
  private count = 0;
  private etag: string | undefined;
  /** Size of the whole file, if the answer stated it. */
  private total: number | undefined;

  private constructor(
    private readonly to?: string,
    private readonly target = '',
    private readonly part = '',
    private readonly file?: FileHandle,
  ) {}

  static async begin(to?: string): Promise<Arrival> {
    if (to === undefined) return new Arrival();
    const target = await realpath(to).catch(() => resolve(to));
    const there = await stat(target).catch(() => undefined);
    if (there?.isFile() === false) throw new Error(`${to} is not a regular file.`);
    const name = `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}.part`;
    const part = join(dirname(target), name);
    return new Arrival(to, target, part, await open(part, 'wx'));
  }

  /** Bytes received. */
  get size(): number {
    return this.count;
  }

  /** Makes one try. Resolves when the whole file has been received. */
  async take(ask: Ask, signal?: AbortSignal): Promise<void> {
    // With a compressed body, Content-Length would not count the bytes of the file.
    const fields: Record<string, string> = { 'accept-encoding': 'identity' };
    if (this.count > 0 && this.etag !== undefined) {
      fields['range'] = `bytes=${this.count}-`;
      fields['if-range'] = this.etag;
    }
    const deadline = new Deadline(signal);
    let reader: Reader | undefined;
    try {
      const { response, isOurs } = await ask(fields, deadline);
      reader = response.body?.getReader();
      if (response.status === 416) {
        await this.restart();
        throw new Broken('The download was answered 416.', { status: 416, isAway: false });
      }
      await this.beginWith(response);
      const next = (): Promise<Uint8Array | undefined> => this.next(reader, deadline);
      for (let chunk = await next(); chunk !== undefined; chunk = await next()) await this.add(chunk);
      await this.check(response, isOurs);
    } finally {
      deadline.end();
      await reader?.cancel().catch(() => undefined);
    }
  }

  /** Returns the bytes, or the path. */
  async whole(): Promise<Uint8Array | string> {
    if (this.file === undefined) return new Uint8Array(Buffer.concat(this.chunks));
    await this.file.close();
    await rename(this.part, this.target);
    return this.to!;
  }

  /** Deletes a partial file. */
  async end(): Promise<void> {
    await this.file?.close().catch(() => undefined);
    if (this.file !== undefined) await rm(this.part, { force: true });
  }

  private async beginWith({ status, headers }: Response): Promise<void> {
    if (status === 206) {
      const [, from, total] = /^bytes (\d+)-\d+\/(\d+)/.exec(headers.get('content-range') ?? '') ?? [];
      const isNext = Number(from) === this.count && (this.total ?? Number(total)) === Number(total);
      if (!isNext) {
        await this.restart();
        const said = 'The download returned another part than the requested one.';
        throw new Broken(said, { isAway: false });
      }
      this.total = Number(total);
      return;
    }
    await this.restart();
    if (headers.has('content-encoding')) return;
    const length = headers.get('content-length');
    this.total = length === null ? undefined : Number(length);
    const etag = headers.get('etag') ?? '';
    this.etag = etag.startsWith('"') ? etag : undefined;
  }

  private async next(reader: Reader | undefined, deadline: Deadline): Promise<Uint8Array | undefined> {
    deadline.start(silenceMs);
    try {
      return (await reader?.read())?.value;
    } catch (error) {
      throw this.cut(deadline.isOver ? 'nothing arrived for 60 s' : reasonOf(error));
    } finally {
      deadline.pause(); // while the chunk is written
    }
  }

  private async add(chunk: Uint8Array): Promise<void> {
    if (this.file === undefined) this.chunks.push(chunk);
    for (let at = 0; this.file !== undefined && at < chunk.length;) {
      at += (await this.file.write(chunk, at, chunk.length - at, this.count + at)).bytesWritten;
    }
    this.hash.update(chunk);
    this.count += chunk.length;
  }

  private async check({ headers }: Response, isOurs: boolean): Promise<void> {
    if (this.total !== undefined && this.count !== this.total) throw this.cut('the connection ended');
    // The service's ETag of a file is its SHA-256.
    const known = isOurs ? /^"([0-9a-f]{64})"$/.exec(this.etag ?? '')?.[1] : undefined;
    if (known !== undefined && known !== this.hash.digest('hex')) {
      await this.restart();
      const said = 'The downloaded file is not the one that the service stores: its SHA-256 differs.';
      throw new Broken(said, { isAway: false });
    }
    if (known !== undefined || isFramed(headers)) return;
    await this.restart();
    const said = 'The download does not say where it ends, so it may be incomplete.';
    throw new Broken(said, { isAway: false });
  }

  private async restart(): Promise<void> {
    if (this.count > 0) {
      this.chunks.splice(0);
      await this.file?.truncate(0);
    }
    this.count = 0;
    this.hash = createHash('sha256');
    this.etag = undefined;
    this.total = undefined;
  }

  private cut(why: string): Broken {
    const of = this.total === undefined ? '' : ` of ${this.total}`;
    return new Broken(`The download broke off after ${this.count}${of} bytes: ${why}.`);
  }
}

/** Returns a reason without the URL, because the URL may grant access to the file. */
export function reasonOf(error: unknown): string {
  const { cause = error } = error as Error;
  const { code, message } = cause as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : message;
}
