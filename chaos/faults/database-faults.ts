import { sleep } from '../clock.js';
import type { FaultKind } from './fault.js';

/** The time within which the service promises to recover. */
const graceMs = 10_000;

export const databaseFaults: readonly FaultKind[] = [
  {
    name: 'database killed',
    hits: 'database',
    graceMs,
    async make({ cluster, random }) {
      await cluster.postgres.kill();
      await sleep(random.between(0, 6_000));
      await cluster.postgres.start();
    },
  },
  {
    name: 'sessions terminated',
    hits: 'database',
    graceMs,
    async make({ cluster }) {
      await cluster.postgres.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND application_name LIKE 'nowserving%'`,
      );
    },
  },
  {
    name: 'database hung',
    hits: 'database',
    graceMs,
    async make({ cluster, random }) {
      await Promise.all(cluster.paths.map((path) => path.make('hang')));
      await sleep(random.between(1_000, 20_000));
      await Promise.all(cluster.paths.map((path) => path.make('heal')));
    },
  },
  {
    name: 'database read-only',
    hits: 'database',
    graceMs,
    async make({ cluster, random }) {
      await cluster.postgres.query('ALTER SYSTEM SET default_transaction_read_only = on');
      await cluster.postgres.query('SELECT pg_reload_conf()');
      await sleep(random.between(1_000, 8_000));
      // ALTER SYSTEM runs outside of transactions, so it works in a read-only session too.
      await cluster.postgres.query('ALTER SYSTEM RESET default_transaction_read_only');
      await cluster.postgres.query('SELECT pg_reload_conf()');
    },
  },
  {
    name: 'disk full',
    hits: 'database',
    graceMs,
    async make({ cluster, random }) {
      await cluster.disk.fill();
      await sleep(random.between(1_000, 8_000));
      await cluster.disk.free();
    },
  },
];
