import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** The advisory lock that a service holds on its embedded server. */
export const ownerLock = 0x6e6f7773;

const retryMs = 500;

/** Says to others that the embedded server is in use, for as long as this process lives; survives cut connections. */
export class OwnerLock {
  private client: pg.Client | undefined;
  private released = false;

  /** Throws when the server is not ready or another service holds the lock. */
  async take(url: string): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      application_name: 'nowserving owner',
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
        ownerLock,
      ]);
      if (!rows[0]!.taken) throw new Error('another service holds the lock');
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    this.client = client;
    client.once('end', () => void this.takeAgain(url));
  }

  async release(): Promise<void> {
    this.released = true;
    await this.client?.end().catch(() => undefined);
  }

  private async takeAgain(url: string): Promise<void> {
    while (!this.released) {
      await delay(retryMs, undefined, { ref: false });
      if (this.released) return;
      try {
        await this.take(url);
        return;
      } catch {
        // the server is away: it is asked again
      }
    }
  }
}
