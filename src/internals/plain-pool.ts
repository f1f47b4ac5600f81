// Relies on an inside of TypeORM: the pool that its PostgreSQL driver keeps.
import type pg from 'pg';
import type { DataSource } from 'typeorm';

/** The pool of an initialized data source. */
export function poolOf({ driver }: DataSource): pg.Pool {
  return (driver as unknown as { master: pg.Pool }).master;
}
