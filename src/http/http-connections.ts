import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Allowances } from '../allowances/allowances.js';
import { descriptorLimit } from '../internals/descriptors.js';
import { closeWithoutStacks } from '../internals/quiet-close.js';
import { unsentBytes } from '../internals/unsent-bytes.js';
import { RepeatedLines } from '../tools/repeated-lines.js';
import { awaitsContinue } from './body-reader.js';
import { Charges, setCharges } from './charges.js';
import { ClientAddress } from './client-address.js';
import { Draining } from './draining.js';
import { originForm } from './origin-form.js';
import { slowBody } from './slow-body.js';
import { Progress, shippedPace } from './progress.js';

/** Calls that may wait on one connection behind the one that is being answered (HTTP pipelining). */
const maxPipelined = 100;
/** Characters of the heads of those calls. No call waits behind more. */
const maxPipelinedLength = 32 * 1024;
/** After this many calls beyond the ones that wait, the connection is closed at once. */
const maxIgnored = 500;
/** Descriptors that are kept for the database, models, webhooks and files. */
const reservedDescriptors = 256;

/** Calls that begin in one turn of the event loop. The others wait for the next turn, in which clients alternate. */
const maxBegunATurn = 32;

const connection = Symbol('connection');

interface ServedSocket extends Socket {
  [connection]?: Connection;
}

/** The exchanges of one connection: one at a time, in the order in which the calls came. */
class Connection {
  private latest: Charges | undefined;
  /** The request that was answered last. */
  private answered: IncomingMessage | undefined;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** Characters of the heads of those calls. */
  waitingLength = 0;
  ignored = 0;
  readonly arriving = new Progress();
  readonly leaving = new Progress();

  /** The exchange in progress. */
  get current(): Charges | undefined {
    if (this.latest?.response.closed === true) {
      this.answered = this.latest.request;
      this.latest = undefined;
    }
    return this.latest;
  }

  /** The request whose body may still come. The rest of a body is discarded if the answer did not wait for it. */
  get receiving(): IncomingMessage | undefined {
    const { current } = this;
    if (this.answered?.complete === true) this.answered = undefined;
    return current?.request ?? this.answered;
  }

  begin(exchange: Charges): void {
    this.latest = exchange;
    this.answered = undefined;
    this.arriving.end();
    this.leaving.end();
  }
}

/**
 * Takes calls from the sockets before the code that answers them. It has the calls of one connection answered in turn,
 * brings their targets into one form, and gives each exchange its charges. It closes a connection whose client neither
 * reads nor sends. A slow line is served while its bytes move.
 */
@Injectable()
export class HttpConnections implements OnModuleDestroy {
  private readonly log = new Logger(HttpConnections.name);
  private readonly lines = new RepeatedLines();
  private begun = 0;
  /** Calls that came in a turn with many, by their client: its key as sent, otherwise its address. */
  private readonly crowd = new Map<string, (() => void)[]>();
  /** Open connections that have had a call. */
  private readonly connections = new Map<ServedSocket, Connection>();
  private timer: NodeJS.Timeout | undefined;
  /** How slow a client may be, and the interval of the check. Tests shorten them before the server listens. */
  pace = { ...shippedPace, checkMs: 2_000 };
  /** Connections that were closed, by reason. */
  readonly closed = { slow: 0, unread: 0, pipelined: 0, full: 0 };

  constructor(
    readonly allowances: Allowances,
    readonly addresses: ClientAddress,
    private readonly draining: Draining,
  ) {}

  /** Puts itself before the server's own listener. */
  install(server: Server): void {
    const [next] = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => this.accept(next!, request, response));
    const descriptors = descriptorLimit();
    if (descriptors < Infinity) {
      server.maxConnections = Math.max(descriptors >> 1, descriptors - reservedDescriptors);
      server.on('connection', () => void this.makeRoom(server));
      server.on('drop', () => {
        this.closed.full++;
        this.warn(
          'full',
          `no more than ${server.maxConnections} connections are served, because ulimit -n is ${descriptors}`,
        );
      });
    }
    const check = (): void => {
      // What has arrived is read first, also between two looks.
      setImmediate(() => this.check(performance.now()));
      this.timer = setTimeout(check, this.pace.checkMs).unref();
    };
    if (this.timer === undefined) check();
  }

  /** Has each connection closed by its next answer, so that the client makes its next call at another node. */
  leave(): void {
    this.draining.leave();
    for (const { current } of this.connections.values()) if (current !== undefined) this.closeAfter(current);
  }

  /**
   * Resolves once the answers in progress have been written, or `signal` aborts because there is no more time. It does
   * not wait for streams of events, because their clients continue elsewhere.
   */
  async answersEnded(signal: AbortSignal): Promise<void> {
    const isMissed = ({ current }: Connection): boolean =>
      current !== undefined && isAwaitedByClient(current);
    while (!signal.aborted && [...this.connections.values()].some(isMissed)) await delay(20);
  }

  onModuleDestroy(): void {
    clearTimeout(this.timer);
    this.lines.flush();
  }

  private accept(next: RequestListener, request: IncomingMessage, response: ServerResponse): void {
    request.url = originForm(request.url!);
    const socket = request.socket as ServedSocket;
    const own = (socket[connection] ??= this.open(socket));
    const { current } = own;
    if (current === undefined) return this.serve(next, own, request, response);
    const isFull = own.waiting.length >= maxPipelined || own.waitingLength >= maxPipelinedLength;
    if (own.ignored > 0 || isFull) return this.ignore(request, own);
    own.waiting.push([request, response]);
    own.waitingLength += lengthOfHead(request);
    if (own.waiting.length === 1) current.response.on('close', () => this.serveNext(next, socket, own));
  }

  private open(socket: ServedSocket): Connection {
    const own = new Connection();
    this.connections.set(socket, own);
    socket.on('close', () => this.connections.delete(socket));
    return own;
  }

  private serveNext(next: RequestListener, socket: ServedSocket, own: Connection): void {
    if (socket.destroyed) own.waiting.length = 0;
    const following = own.waiting.shift();
    if (following === undefined) return;
    const [request, response] = following;
    own.waitingLength -= lengthOfHead(request);
    if (own.waiting.length > 0) response.on('close', () => this.serveNext(next, socket, own));
    this.serve(next, own, request, response);
  }

  private serve(
    next: RequestListener,
    own: Connection,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const exchange = new Charges(this, request, response);
    setCharges(exchange);
    // A client that pipelined reads the answers to the calls that wait first.
    if (this.draining.isLeaving && own.waiting.length === 0) this.closeAfter(exchange);
    own.begin(exchange);
    this.begin(next, exchange);
  }

  /** Begins a call, usually at once. A client that sends many at a time delays another by those of one turn at most. */
  private begin(next: RequestListener, exchange: Charges): void {
    if (this.begun === 0) setImmediate(this.beginCrowd);
    if (this.begun < maxBegunATurn && this.crowd.size === 0) {
      this.begun++;
      next(exchange.request, exchange.response);
    } else this.postpone(next, exchange);
  }

  private postpone(next: RequestListener, { request, response }: Charges): void {
    const call = (): void => {
      if (!request.socket.destroyed) next(request, response);
    };
    const client = request.headers.authorization ?? request.socket.remoteAddress ?? '';
    const waiting = this.crowd.get(client);
    if (waiting === undefined) this.crowd.set(client, [call]);
    else waiting.push(call);
  }

  private readonly beginCrowd = (): void => {
    this.begun = 0;
    while (this.crowd.size > 0 && this.begun < maxBegunATurn) {
      for (const [client, waiting] of this.crowd) {
        if (this.begun++ >= maxBegunATurn) break;
        waiting.shift()!();
        if (waiting.length === 0) this.crowd.delete(client);
      }
    }
    if (this.begun > 0) setImmediate(this.beginCrowd);
  };

  /**
   * Closes the connection after the answer if its head can still say so. Otherwise the client could already be sending
   * its next call, and the answer to that one says so. Once the port is closed there will be no such answer.
   */
  private closeAfter({ request, response }: Charges): void {
    if (!response.headersSent) response.shouldKeepAlive = false;
    else
      response.once('finish', () => {
        if (this.draining.isStarted) request.socket.destroySoon();
      });
  }

  /** Answers the calls that wait, then closes the connection. The client sends the other calls again. */
  private ignore(request: IncomingMessage, own: Connection): void {
    const { socket } = request;
    if (own.ignored === 0) {
      this.closed.pipelined++;
      closeWithoutStacks(socket);
      this.warn('pipelined', 'a client pipelined too much on a connection');
      own.waiting.at(-1)?.[1].setHeader('Connection', 'close');
    }
    own.ignored++;
    // Node keeps the request until the connection closes.
    Object.assign(request, { url: '', rawHeaders: [], headers: {} });
    if (own.ignored > maxIgnored) socket.destroy();
  }

  private async makeRoom(server: Server): Promise<void> {
    const count = await new Promise<number>((resolve) => {
      server.getConnections((_, found) => resolve(found));
    });
    if (count > server.maxConnections * 0.9) server.closeIdleConnections();
  }

  /** Closes connections that are too slow, and those with unread answers beyond what their caller may hold. */
  private check(now: number): void {
    const unread = new Map<string, { bytes: number; sockets: [ServedSocket, number][] }>();
    for (const [socket, own] of this.connections) {
      const { current, receiving: request } = own;
      if (request === undefined) continue;
      if (isAwaited(request)) own.arriving.move(socket.bytesRead, now);
      else own.arriving.end();
      const unsent = unsentBytes(socket);
      if (unsent > 0) own.leaving.move(socket.bytesWritten - unsent, now);
      else own.leaving.end();
      if (own.leaving.staysTooSlow(now, this.pace)) {
        this.close(socket, 'slow', 'a client reads an answer too slowly');
      } else if (own.arriving.staysTooSlow(now, this.pace)) {
        own.arriving.end();
        this.closed.slow++;
        this.warn('slow', 'a body arrives too slowly');
        if (!request.emit(slowBody)) socket.destroy();
      } else if (unsent > 0 && current !== undefined) {
        const { name } = current;
        const of = unread.get(name) ?? { bytes: 0, sockets: [] };
        of.bytes += unsent;
        of.sockets.push([socket, unsent]);
        unread.set(name, of);
      }
    }
    for (const [name, { bytes, sockets }] of unread) this.dropUnread(name, bytes, sockets);
  }

  private dropUnread(name: string, bytes: number, sockets: [ServedSocket, number][]): void {
    let excess = bytes - this.allowances.bounds.bytes.caller;
    if (excess <= 0 || sockets.length === 1) return;
    sockets.sort(([, one], [, other]) => other - one);
    for (const [socket, unsent] of sockets) {
      if (excess <= 0) return;
      excess -= unsent;
      this.allowances.noteRefusal(name, 'bytes', 'caller', 'answers that a caller did not read were closed');
      this.close(socket, 'unread', 'a caller leaves too much unread');
    }
  }

  private close(socket: ServedSocket, reason: keyof typeof this.closed, message: string): void {
    this.closed[reason]++;
    this.warn(reason, message);
    socket.destroy();
  }

  private warn(kind: string, message: string): void {
    this.lines.add(kind, (times) =>
      this.log.warn(`${message}${times > 1 ? `; ${times} times in the last minute` : ''}`),
    );
  }
}

function lengthOfHead({ url, rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url!.length);
}

/** Returns whether a client waits for the answer. A client that is still sending its body sends it again elsewhere. */
function isAwaitedByClient({ request, response }: Charges): boolean {
  const type = String(response.getHeader('content-type') ?? '');
  return (response.headersSent || request.complete) && !type.startsWith('text/event-stream');
}

/** Returns whether the rest of a body is wanted and has not come. A paused reader is not the client's fault. */
function isAwaited(request: IncomingMessage): boolean {
  if (request.complete || request.destroyed || awaitsContinue(request)) return false;
  const isRead = request.readableFlowing !== false || request.listenerCount('readable') > 0;
  return isRead && request.readableLength === 0;
}
