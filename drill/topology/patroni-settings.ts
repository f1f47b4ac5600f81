import { join } from 'node:path';
import type { ServerUser } from '../../src/embedded-postgres/data-directory.js';
import type { Programs } from './programs.js';

/** How many standbys must have a commit before it is answered, and whether writes wait when none is there. */
export type Replication = 'synchronous' | 'strict' | 'asynchronous';

export interface NodeOptions {
  name: string;
  directory: string;
  programs: Programs;
  user: ServerUser;
  password: string;
  /** Ports of PostgreSQL and of Patroni's REST API, without a proxy. */
  ports: { postgres: number; rest: number };
  etcdPorts: readonly number[];
  replication: Replication;
}

/**
 * Times in seconds. A primary that does not renew its key in etcd for `ttl` is replaced, and demotes itself before,
 * `retry_timeout` after it last reached etcd. `ttl` has the smallest value that Patroni takes, and is at least
 * `loop_wait` + 2 × `retry_timeout`.
 */
export const patroniTimes = { ttl: 20, loop_wait: 2, retry_timeout: 4 };

/** An asynchronous standby that is further behind is not promoted. Synchronous ones miss nothing. */
const maxLagBytes = 16 * 1024 ** 2;

/** The ports under which the node appears to the others, and those at which it finds etcd. */
interface AdvertisedPorts {
  postgres: number;
  rest: number;
  etcd: readonly number[];
}

export function nodeSettings(
  { name, ports, password, programs, replication }: NodeOptions,
  directory: string,
  dataDirectory: string,
  advertised: AdvertisedPorts,
): object {
  const at = (port: number): string => `127.0.0.1:${port}`;
  return {
    scope: 'drill',
    name,
    restapi: { listen: at(ports.rest), connect_address: at(advertised.rest) },
    // Each node has its own proxies to etcd. Without `use_proxies` it would learn the addresses behind them.
    etcd3: { hosts: advertised.etcd.map(at), use_proxies: true },
    bootstrap: {
      dcs: {
        ...patroniTimes,
        maximum_lag_on_failover: maxLagBytes,
        synchronous_mode: replication !== 'asynchronous',
        synchronous_mode_strict: replication === 'strict',
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: { max_connections: 200, wal_keep_size: '256MB', wal_log_hints: 'on' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: at(ports.postgres),
      connect_address: at(advertised.postgres),
      data_dir: dataDirectory,
      bin_dir: programs.postgresBin,
      pgpass: join(directory, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
      },
      parameters: {
        unix_socket_directories: directory,
        shared_buffers: '128MB',
        autovacuum_naptime: '10s',
      },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 scram-sha-256',
        'host replication replicator 127.0.0.1/32 scram-sha-256',
      ],
    },
    watchdog: { mode: 'off' },
  };
}
