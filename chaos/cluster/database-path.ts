import type { PgBouncer } from './pgbouncer.js';
import type { Postgres } from './postgres.js';
import { portCell, type ProxyThread, type RemoteProxy } from './proxy-thread.js';

/** How one node reaches the database: directly, or through PgBouncer and directly for the notification channel. */
export class DatabasePath {
  private constructor(
    private readonly proxies: RemoteProxy[],
    readonly environment: Readonly<Record<string, string>>,
  ) {}

  static async open(
    thread: ProxyThread,
    postgres: Postgres,
    bouncer: PgBouncer | undefined,
  ): Promise<DatabasePath> {
    const direct = await thread.open(postgres.portCell);
    const directUrl = postgres.urlVia(direct.port);
    if (bouncer === undefined) return new DatabasePath([direct], { DATABASE_URL: directUrl });
    const pooled = await thread.open(portCell(bouncer.port));
    return new DatabasePath([direct, pooled], {
      DATABASE_URL: postgres.urlVia(pooled.port),
      DATABASE_DIRECT_URL: directUrl,
      DATABASE_PREPARED_STATEMENTS: 'off',
    });
  }

  async make(what: 'hang' | 'heal' | 'reset'): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.make(what)));
  }

  async muteChannel(draw: number): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.muteChannel(draw)));
  }
}
