// Relies on a TypeORM internal: the pool that its PostgreSQL driver keeps.
import type pg from 'pg';
import type { DataSource } from 'typeorm';

/** Returns the pool of an initialised data source. */
export function poolOf({ driver }: DataSource): pg.Pool {
  return (driver as unknown as { master: pg.Pool }).master;
}
