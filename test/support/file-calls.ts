import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestService } from './index.js';
import { keyHeader } from './queue-calls.js';

export interface Initiated {
  file_url: string;
  upload_url: string;
}

export type Body = NonNullable<RequestInit['body']>;

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');
export const someBytes = (count: number): Buffer<ArrayBuffer> => randomBytes(count);

/** The calls about files, as a caller makes them. */
export class FileCalls {
  constructor(readonly service: TestService) {}

  ask(body: unknown, headers: Record<string, string> = keyHeader(this.service.key)): Promise<Response> {
    const path = '/v1/storage/upload/initiate';
    return fetch(this.service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async initiate(content_type = 'image/png', file_name = 'cat.png', key?: string): Promise<Initiated> {
    const answer = await this.ask({ content_type, file_name }, keyHeader(key ?? this.service.key));
    const body = (await answer.json()) as Initiated;
    expect([answer.status, body]).toEqual([
      200,
      { file_url: expect.any(String), upload_url: expect.any(String) },
    ]);
    return body;
  }

  put(url: string, body: Body, type = 'image/png', init: RequestInit = {}): Promise<Response> {
    return fetch(url, { method: 'PUT', body, headers: { 'content-type': type }, ...init });
  }

  /** Stores a file and returns its URL. */
  async store(bytes: Body, type = 'image/png', name = 'cat.png', key?: string): Promise<string> {
    const { file_url, upload_url } = await this.initiate(type, name, key);
    const answer = await this.put(upload_url, bytes, type);
    expect([answer.status, await answer.json()]).toMatchObject([200, {}]);
    return file_url;
  }

  async bytes(url: string): Promise<Buffer> {
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  }

  /** Returns all files below DATA_DIR/files, without folders and the marker. */
  async onDisk(): Promise<string[]> {
    const entries = await readdir(join(this.service.config.dataDir, 'files'), {
      recursive: true,
      withFileTypes: true,
    }).catch(() => []);
    return entries.filter((one) => one.isFile() && one.name !== 'place').map(({ name }) => name);
  }
}

export const fileId = (url: string): string => /\/v1\/files\/([0-9a-f-]{36})\//.exec(url)![1]!;
