import { Injectable } from '@nestjs/common';
import { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { DomainError } from '../errors/domain-error.js';
import { Files } from '../files/files.js';
import { uploadBytes } from '../files/stores/spool.js';
import { bodyOfUpload } from '../files/upload-body.js';
import { BodyReader } from '../http/body-reader.js';
import { chargesOf } from '../http/charges.js';
import { readBody } from '../http/input/body.js';
import { assertNoOptions, optionsOf } from '../http/input/option.js';
import { rawElements, rawMember } from '../tools/json-scanner.js';
import { linesTypes } from '../tools/lines-types.js';
import type { NewBatch } from './batch.js';
import { unknownInput } from './batches.js';
import { NewBatchDto, NewBatchQuery } from './dto/batches.dto.js';
import { ownFormat } from './own-lines.js';

/** Reads what a batch is made of: a JSON object, or the lines themselves. */
@Injectable()
export class BatchBodies {
  constructor(
    private readonly bodies: BodyReader,
    private readonly files: Files,
  ) {}

  async read(request: Request, response: Response): Promise<NewBatch> {
    const [type = ''] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
    return linesTypes.includes(type.trim())
      ? this.readLines(request, response)
      : this.readJson(request, response);
  }

  private readLines(request: Request, response: Response): NewBatch {
    const options = optionsOf(NewBatchQuery, request.query);
    const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = request.headers;
    if (encoding.trim().toLowerCase() !== 'identity') {
      const detail = 'Lines are stored as they are sent. Send them without a Content-Encoding.';
      throw new DomainError('unsupported_encoding', detail);
    }
    chargesOf(request)?.addStoredBody(uploadBytes);
    const lines = this.whileAllowed(request, bodyOfUpload(request, response));
    return { ...termsOf(options), input: { lines, announcedBytes: Number(length) } };
  }

  /** Yields the chunks of a body. At its end it throws if the caller's key was revoked meanwhile. */
  private async *whileAllowed(request: Request, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    yield* chunks;
    await this.bodies.checkAgain(request);
  }

  private async readJson(request: Request, response: Response): Promise<NewBatch> {
    assertNoOptions(request.query);
    const bytes = await this.bodies.read(request, response);
    const body = readBody(NewBatchDto, bytes);
    if (body.input_file !== undefined) {
      const named = await this.files.named(body.input_file);
      if (named === undefined) throw unknownInput();
      return { ...termsOf(body), input: { fileId: named.file.id } };
    }
    // Taken from the text, because parsing and serialising an input could change its numbers.
    const lines = rawElements(rawMember(bytes.toString(), 'requests')!).map(onOneLine);
    const joined = Buffer.from(lines.join(''));
    return { ...termsOf(body), input: { lines: Readable.from([joined]), announcedBytes: joined.length } };
  }
}

function termsOf(options: NewBatchQuery): Omit<NewBatch, 'input'> {
  const { model_id: modelId, tag, webhook, priority, completion_window: windowMs } = options;
  const windowSeconds = windowMs === undefined ? undefined : windowMs / 1_000;
  return { modelId, tag, webhook, priority, windowSeconds, format: ownFormat };
}

/** A line break in JSON text is between its tokens, never in a text. */
const onOneLine = (json: string): string => `${json.replaceAll(/[\r\n]/g, ' ').trim()}\n`;
