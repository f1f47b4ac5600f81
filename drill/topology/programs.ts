import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The paths of the programs that the drill starts. */
export interface Programs {
  patroni: string;
  patronictl: string;
  etcd: string;
  haproxy: string;
  /** The directory with the programs of PostgreSQL. */
  postgresBin: string;
}

const ofPostgres = ['postgres', 'initdb', 'pg_ctl', 'pg_basebackup', 'pg_rewind', 'pg_controldata'];
const packages =
  'patroni python3-etcd etcd-server haproxy pgbouncer postgresql (Debian 12 or newer; other systems have other names)';

export class MissingPrograms extends Error {}

const usualFolders = (): string[] => [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/bin'];

/** Throws with what to install if a program is missing. */
export function findPrograms(
  withPgBouncer: boolean,
  folders = usualFolders(),
  ofVersions = '/usr/lib/postgresql',
): Programs {
  const missing: string[] = [];
  const find = (name: string): string => {
    const path = folders.map((folder) => join(folder, name)).find(isExecutable);
    if (path === undefined) missing.push(name);
    return path ?? name;
  };
  const programs = {
    patroni: find('patroni'),
    patronictl: find('patronictl'),
    etcd: find('etcd'),
    haproxy: find('haproxy'),
    postgresBin: postgresBin(ofVersions) ?? '',
  };
  if (programs.postgresBin === '') missing.push(ofPostgres.join(', '));
  if (withPgBouncer) find('pgbouncer');
  if (missing.length === 0) return programs;
  throw new MissingPrograms(`The drill needs ${missing.join(', ')}. Install with apt-get: ${packages}.`);
}

/** Returns the first line that a program prints about its version. */
export function versionOf(program: string, flag = '--version'): string {
  return execFileSync(program, [flag], { encoding: 'utf8' }).split('\n')[0]!.trim();
}

/**
 * Returns a warning if this version of Patroni may let a frozen primary take the key back from its successor in etcd, so
 * that what the successor acknowledged is lost. Patroni's pull request 2693 mended it in 3.0.3.
 */
export function warningOf(version: string): string | undefined {
  const [, major, minor, patch] = (/(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  if (major === undefined || 10_000 * major + 100 * minor! + patch! >= 30_003) return undefined;
  return (
    `warning: ${version} may lose acknowledged writes after 'primary frozen', and so break the drill. ` +
    'Put 3.0.3 or newer first in PATH; Debian 13 has one.'
  );
}

/** The newest version that Debian has installed. */
function postgresBin(versions: string): string | undefined {
  if (!existsSync(versions)) return undefined;
  return readdirSync(versions)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(versions, version, 'bin'))
    .find((folder) => ofPostgres.every((name) => isExecutable(join(folder, name))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
