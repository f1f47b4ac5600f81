import { DatabaseProxy } from './database-proxy.js';
import type { PgBouncer } from './pgbouncer.js';
import type { Postgres } from './postgres.js';

/** How one node reaches the database: straight, or through PgBouncer and straight for the notification channel. */
export class DatabasePath {
  private constructor(
    private readonly proxies: DatabaseProxy[],
    readonly environment: Readonly<Record<string, string>>,
  ) {}

  static async open(postgres: Postgres, bouncer: PgBouncer | undefined): Promise<DatabasePath> {
    const direct = new DatabaseProxy(() => postgres.port);
    const directUrl = postgres.urlVia(await direct.listen());
    if (bouncer === undefined) return new DatabasePath([direct], { DATABASE_URL: directUrl });
    const pooled = new DatabaseProxy(() => bouncer.port);
    return new DatabasePath([direct, pooled], {
      DATABASE_URL: postgres.urlVia(await pooled.listen()),
      DATABASE_DIRECT_URL: directUrl,
      DATABASE_PREPARED_STATEMENTS: 'off',
    });
  }

  hang(): void {
    for (const proxy of this.proxies) proxy.hang();
  }

  heal(): void {
    for (const proxy of this.proxies) proxy.heal();
  }

  reset(): void {
    for (const proxy of this.proxies) proxy.reset();
  }

  muteChannel(pick: <T>(items: readonly T[]) => T): void {
    for (const proxy of this.proxies) proxy.muteChannel(pick);
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }
}
