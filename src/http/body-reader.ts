import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { AtATime } from '../tools/at-a-time.js';
import { Pieces } from '../tools/pieces.js';
import { chargesOf } from './charges.js';
import { slowBody, tooSlow } from './slow-body.js';

interface Decoding {
  create: () => Transform;
  /** Bytes that the decoder has in memory. */
  bytes: number;
}

/** A window of 32 KiB, the decoder's tables, and its next output. */
const ofZlib = 64 * 1024;
/** Tables of 2.6 MB at most, which a short body can ask for, and a window that grows with the output. */
const ofBrotli = 4 * 1024 ** 2;

const decodings = new Map<string, Decoding>([
  ['gzip', { create: createGunzip, bytes: ofZlib }],
  ['x-gzip', { create: createGunzip, bytes: ofZlib }],
  ['deflate', { create: createInflate, bytes: ofZlib }],
  ['br', { create: createBrotliDecompress, bytes: ofBrotli }],
]);

const unsupported = 'The body must be plain or encoded with gzip, deflate or br.';

/** Calls whose clients send the body only after they are asked to. */
const waiting = new WeakSet<IncomingMessage>();

/** Until a body is wanted, its connection is to be closed, because it is not known whether the body will still come. */
export function deferContinue(server: Server): void {
  server.on('checkContinue', (request, response) => {
    waiting.add(request);
    response.setHeader('Connection', 'close');
    server.emit('request', request, response);
  });
  // Any other expectation may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

export const awaitsContinue = (request: IncomingMessage): boolean => waiting.has(request);

/** Asks a client for the body, if it waits to be asked. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.delete(request)) return;
  response.removeHeader('Connection');
  response.writeContinue();
}

/** Called after the guards, so that a caller without a key or over its limit cannot fill the memory first. */
@Injectable()
export class BodyReader {
  /** A body that takes longer than this is slow. */
  slowMs = 1_000;
  /** Checks a call again whose body was slow, because it may not be allowed any more. */
  onSlow: ((request: IncomingMessage) => void | Promise<void>) | undefined;

  constructor(private readonly config: Config) {}

  /** Checks a call again whose body was read elsewhere as it came. Throws if the call is not allowed any more. */
  async checkAgain(request: IncomingMessage): Promise<void> {
    await this.onSlow?.(request);
  }

  /** Returns the whole body, decompressed, whatever its content type. It is bounded on the wire and decompressed. */
  async read(
    request: IncomingMessage,
    response: ServerResponse,
    maxBodyBytes = this.config.maxBodyBytes,
  ): Promise<Buffer> {
    const { 'content-length': length = 0, 'content-encoding': encoding = 'identity' } = request.headers;
    if (Number(length) > maxBodyBytes) throw tooLarge(maxBodyBytes);
    const charges = chargesOf(request);
    const coding = encoding.trim().toLowerCase();
    const isPlain = coding === 'identity' || coding === '';
    // The announced size is charged at once, so that a body without room is refused before it is sent.
    if (isPlain) charges?.addBody(Number(length), Number(length));
    const decoding = isPlain ? undefined : decodingOf(coding);
    const held = decoding && charges?.take('bytes', decoding.bytes);
    try {
      askForBody(request, response);
      if (request.destroyed) throw aborted();
      const startedAt = performance.now();
      const bounds = { maxBytes: maxBodyBytes, charged: isPlain ? Number(length) : 0 };
      const body = await (decoding === undefined
        ? collect(request, request, bounds)
        : decoded(request, decoding.create(), bounds));
      if (performance.now() - startedAt > this.slowMs) await this.checkAgain(request);
      return body;
    } finally {
      held?.release();
    }
  }
}

/** A body may grow to this many times its size on the wire. */
const maxInflation = 100;
/** Below this size, in bytes, any inflation is accepted. */
const freeInflation = 1024 ** 2;

interface BodyBounds {
  maxBytes: number;
  /** Bytes that the caller's allowance has been charged with already. */
  charged: number;
}

function decodingOf(coding: string): Decoding {
  const decoding = decodings.get(coding);
  if (decoding === undefined) throw new DomainError('unsupported_encoding', unsupported);
  return decoding;
}

async function decoded(request: IncomingMessage, decoder: Transform, bounds: BodyBounds): Promise<Buffer> {
  request.pipe(decoder);
  try {
    return await collect(request, decoder, bounds);
  } finally {
    request.unpipe(decoder);
    decoder.destroy();
  }
}

function collect(
  request: IncomingMessage,
  source: Readable,
  { maxBytes, charged }: BodyBounds,
): Promise<Buffer> {
  const charges = chargesOf(request);
  return new Promise<Buffer>((resolve, reject) => {
    const chunks = new Pieces();
    let size = 0;
    let received = 0;
    const onReceived = (chunk: Buffer): void => {
      received += chunk.length;
      // A decoder may yield nothing for as long as it gets bytes.
      if (received > maxBytes) fail(tooLarge(maxBytes));
    };
    if (source !== request) request.on('data', onReceived);
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) return fail(tooLarge(maxBytes));
      if (source !== request && size > freeInflation && size > maxInflation * received)
        return fail(inflated());
      try {
        if (size > charged) charges?.addBody(chunk.length, size);
      } catch (error) {
        return fail(error as DomainError);
      }
      chunks.push(chunk);
    };
    const onSlow = (): void => fail(tooSlow());
    const onEnd = (): void => {
      request.off(slowBody, onSlow);
      // This listener lives as long as the exchange, so it must keep no chunks.
      resolve(joined(charges?.name ?? '', chunks.take(), size));
    };
    const onClose = (): void => {
      if (!request.complete) fail(aborted());
    };
    const fail = (error: DomainError): void => {
      source.off('data', onData).off('end', onEnd);
      request.off('close', onClose).off('data', onReceived).off(slowBody, onSlow);
      charges?.releaseBody();
      request.unpipe();
      request.resume(); // so that the client gets to read the answer
      reject(error);
    };
    source.on('data', onData).on('end', onEnd);
    request.on('close', onClose).on(slowBody, onSlow);
    if (source === request) return;
    source.on('error', (cause) =>
      fail(new DomainError('invalid_json', 'The body does not match its Content-Encoding.', { cause })),
    );
  });
}

/** Bytes of a larger body that one turn of the event loop copies, because fresh memory is slow to write. */
const copiedATurn = 1024 ** 2;
const copying = new AtATime(1);

function joined(caller: string, chunks: readonly Buffer[], size: number): Buffer | Promise<Buffer> {
  if (chunks.length === 1) return chunks[0]!;
  if (size <= copiedATurn) return Buffer.concat(chunks, size);
  return copying.run(caller, async () => {
    const body = Buffer.allocUnsafe(size);
    let at = 0;
    let stopAt = copiedATurn;
    for (const chunk of chunks) {
      at += chunk.copy(body, at);
      if (at < stopAt) continue;
      stopAt = at + copiedATurn;
      await nextTurn();
    }
    return body;
  });
}

function tooLarge(maxBytes: number): DomainError {
  const detail = `The body may have ${maxBytes} bytes at most, also when decompressed.`;
  return new DomainError('body_too_large', detail);
}

function inflated(): DomainError {
  const detail = `The body decompresses to more than ${maxInflation} times its size. Send it without Content-Encoding.`;
  return new DomainError('too_large', detail);
}

function aborted(): DomainError {
  return new DomainError('bad_request', 'The connection was closed before the body had arrived.');
}
