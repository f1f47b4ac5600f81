import { Logger } from '@nestjs/common';
import pg from 'pg';
import { isPooled } from '../internals/pooled.js';

const channel = 'nowserving';
const selfTestMs = 15_000;
const selfTestPatienceMs = 5_000;
const reconnectMs = 500;
/** Messages kept during an outage. A node that was away for longer reads everything again anyway. */
const maxWaiting = 1_000;
/**
 * A notification is lost in a crash anyway. Without `synchronous_commit = off`, each one would wait for the disk while
 * holding the lock. The setting is local to the transaction, because a pooler would pass a session's setting on to
 * submissions.
 */
const notifyAll = `SELECT pg_notify($1, payload), set_config('synchronous_commit', 'off', true)
FROM unnest($2::text[]) AS payload`;

export interface ChannelListener {
  /** Receives a message of this process or another. */
  message(payload: string): void;
  /** The channel is up again. Messages may have been missed. */
  reconnected(): void;
  /**
   * Called when it is time to send, so that messages collected meanwhile are sent together. Each is below 8,000 bytes.
   */
  collect(): string[];
  /** Milliseconds after the last statement before the next may follow. */
  minIntervalMs(): number;
}

/**
 * LISTEN and NOTIFY between the processes on one database, on two dedicated connections. NOTIFY takes a global lock at
 * commit, so it is never part of another transaction. Messages are hints and may be lost. A self-test every 15 s
 * detects a connection that is open but dead.
 */
export class NotifyChannel {
  private readonly log = new Logger(NotifyChannel.name);
  private listening: pg.Client | undefined;
  private sending: pg.Client | undefined;
  /** Both, and one that is being opened. Errors of any other client are ignored, because it was given up. */
  private readonly clients = new Set<pg.Client>();
  private listener: ChannelListener | undefined;
  private readonly topics = new Map<string, (body: string) => void>();
  /** Messages that were collected and could not be sent. */
  private unsent: string[] = [];
  private flushDue = false;
  private flushScheduled = false;
  private flushTimer: NodeJS.Timeout | undefined;
  private flushing = false;
  private flushedAt = 0;
  private testTimer: NodeJS.Timeout | undefined;
  private receivedAt = 0;
  /**
   * True if the connections lead to a pooler. A pooler that assigns a server per transaction forwards no notifications.
   */
  private isPooled = false;
  /** True if the current connection has received anything. */
  private hasReceived = false;
  private hasWarned = false;
  private stopped = true;
  private reconnecting: Promise<void> | undefined;
  /** True if a connection was lost, including one of the two while the other was being opened. */
  private broken = false;

  /** `url`: of a direct connection, because a pooler forwards no notifications. */
  constructor(private readonly url: string) {}

  /** Receives messages under their own topic, besides those of the queue. These are hints too. */
  listen(topic: string, receive: (body: string) => void): void {
    this.topics.set(topic, receive);
  }

  /** Sends at once, not batched with the queue's messages. The message is lost while the channel is down. */
  sendNow(topic: string, body: string): void {
    this.notify([`${topic} ${body}`]).catch(() => undefined);
  }

  async start(listener: ChannelListener): Promise<void> {
    this.listener = listener;
    this.stopped = false;
    await this.connect();
    this.testTimer = setInterval(() => void this.selfTest(), selfTestMs);
  }

  async stop(): Promise<void> {
    if (this.stopped) return;
    await this.flush();
    this.stopped = true;
    clearInterval(this.testTimer);
    clearTimeout(this.flushTimer);
    await this.reconnecting;
    await this.disconnect();
  }

  /**
   * Called when the listener has something to send. It is sent at once, or batched if the last statement was recent.
   */
  requestFlush(): void {
    this.flushDue = true;
    this.scheduleFlush();
  }

  private scheduleFlush(): void {
    if (!this.flushDue || this.flushScheduled || this.flushing || this.stopped) return;
    this.flushScheduled = true;
    const waitMs = (this.listener?.minIntervalMs() ?? 0) - (performance.now() - this.flushedAt);
    const flush = (): void => void this.flush();
    if (waitMs > 0) this.flushTimer = setTimeout(flush, waitMs);
    else setImmediate(flush);
  }

  private async flush(): Promise<void> {
    clearTimeout(this.flushTimer);
    this.flushScheduled = false;
    if (this.flushing) return;
    this.flushDue = false;
    this.unsent = [...this.unsent, ...(this.listener?.collect() ?? [])].slice(-maxWaiting);
    if (this.unsent.length === 0 || this.sending === undefined) return;
    this.flushing = true;
    this.flushedAt = performance.now();
    try {
      await this.notify(this.unsent);
      this.unsent = [];
    } catch {
      // Sending twice is harmless. Without sending, the others would wait until they next check by themselves.
      this.flushDue = true;
    } finally {
      this.flushing = false;
      this.scheduleFlush();
    }
  }

  /** A message that fails loses the connection that it was sent on. */
  private async notify(payloads: string[]): Promise<void> {
    const { sending } = this;
    if (sending === undefined) return;
    try {
      // Not a named statement, because a pooler may lose prepared statements.
      await sending.query(notifyAll, [channel, payloads]);
    } catch (error) {
      this.lose(sending);
      throw error;
    }
  }

  private async connect(): Promise<void> {
    this.hasReceived = false;
    this.listening = await this.open();
    this.listening.on('notification', ({ payload }) => {
      this.receivedAt = performance.now();
      this.hasReceived = true;
      this.hasWarned = false;
      if (payload !== undefined && payload !== '') this.receive(payload);
    });
    await this.listening.query(`LISTEN ${channel}`);
    this.sending = await this.open();
    this.isPooled = await isPooled(this.sending);
    this.receivedAt = performance.now();
    if (this.isPooled) void this.test();
  }

  /** The queue's messages are JSON objects. Messages of a topic begin with its name. */
  private receive(payload: string): void {
    if (payload.startsWith('{')) return this.listener?.message(payload);
    const end = payload.indexOf(' ');
    this.topics.get(payload.slice(0, end))?.(payload.slice(end + 1));
  }

  private async open(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.url,
      keepAlive: true,
      connectionTimeoutMillis: selfTestPatienceMs,
      query_timeout: selfTestPatienceMs,
      // A hint is sent without waiting for earlier statements, as in the pools.
      pipeline: true,
      application_name: 'nowserving channel',
    });
    this.clients.add(client);
    client.on('error', () => this.lose(client));
    client.on('end', () => this.lose(client));
    await client.connect();
    return client;
  }

  private async disconnect(): Promise<void> {
    const clients = [...this.clients];
    this.clients.clear();
    this.listening = this.sending = undefined;
    for (const client of clients) {
      // A half-open connection never answers the termination message, so the wait is bounded.
      const ended = client.end().catch(() => undefined);
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 200).unref())]);
    }
  }

  private lose(client: pg.Client): void {
    if (this.clients.has(client)) this.reconnect();
  }

  private reconnect(): void {
    this.broken = true;
    if (this.stopped || this.reconnecting !== undefined) return;
    this.reconnecting = this.reconnectUntilUp().finally(() => (this.reconnecting = undefined));
  }

  private async reconnectUntilUp(): Promise<void> {
    this.log.warn('the notification channel is down; reconnecting');
    while (!this.stopped) {
      await this.disconnect();
      this.broken = false;
      try {
        await this.connect();
        if (this.broken) continue;
        this.log.log('the notification channel is up again');
        this.listener?.reconnected();
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, reconnectMs * (0.5 + Math.random())));
      }
    }
  }

  /** Sends an empty message to itself. If it does not arrive, the listening connection is dead. */
  private async selfTest(): Promise<void> {
    if (performance.now() - this.receivedAt < selfTestMs / 2 || this.sending === undefined) return;
    await this.test();
  }

  private async test(): Promise<void> {
    const { listening } = this;
    const asked = performance.now();
    const look = (): void => {
      if (this.receivedAt >= asked || this.listening !== listening) return;
      // Another connection to the pooler would not receive anything either.
      if (this.isPooled && !this.hasReceived) this.warnOfPooler();
      else this.reconnect();
    };
    await this.notify(['']).then(
      () => setTimeout(look, selfTestPatienceMs).unref(),
      () => undefined,
    );
  }

  private warnOfPooler(): void {
    if (this.hasWarned || this.stopped) return;
    this.hasWarned = true;
    this.log.warn(
      'the connection pooler in front of the database passes on no notifications, so this node sees ' +
        'changes of other nodes seconds to minutes late: set DATABASE_DIRECT_URL to the address of PostgreSQL itself',
    );
  }
}
