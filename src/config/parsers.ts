import { accessSync, constants } from 'node:fs';
import proxyaddr from 'proxy-addr';
import { parseDuration } from '../tools/duration.js';
import { type Adapter, adapters } from './adapter.js';
import type { RateLimits } from './rate-limits.js';

/* Each parser throws an Error whose message says what it accepts. */

export function parseSwitch(value: string): boolean {
  const text = value.toLowerCase();
  if (text !== 'on' && text !== 'off') throw new Error('expected one of on, off');
  return text === 'on';
}

const mustBeEncoded =
  'the user name and the password must be percent-encoded: % as %25, / as %2F, ? as %3F, # as %23, @ as %40; ' +
  'so must an @ after the host';

/**
 * Refuses a password that is not percent-encoded. Such a URL would name another host, and messages would show a part of
 * the password.
 */
export function parseUrl(value: string, ...protocols: readonly string[]): string {
  const isOne = protocols.some((protocol) => value.toLowerCase().startsWith(`${protocol}//`));
  if (!isOne || (!URL.canParse(value) && !value.includes('@')))
    throw new Error(`expected a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`);
  if (!URL.canParse(value) || hasUnencoded(value)) throw new Error(mustBeEncoded);
  return value;
}

function hasUnencoded(url: string): boolean {
  const isDatabase = /^postgres/i.test(url);
  const parts = isDatabase ? /^[^:]*:\/\/([^/?#]*)(.*)$/s : /^[^:]*:\/\/([^/?#\\]*)(.*)$/s;
  const [, authority = '', rest = ''] = parts.exec(url)!;
  const at = authority.lastIndexOf('@');
  // A path of a model's URL may contain an @, but not after a user name.
  const isCut = rest.includes('@') && (isDatabase || at !== -1);
  return isCut || /\p{Cc}/u.test(url) || !isEncoded(authority.slice(0, Math.max(0, at)));
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Accepts only URLs that all drivers read the same way. */
export function parseDatabaseUrl(value: string): string {
  const url = new URL(parseUrl(value, 'postgres:', 'postgresql:'));
  if (!isEncoded(url.pathname)) throw new Error('the name of the database must be percent-encoded: % as %25');
  checkTls(url);
  return url.href;
}

/** The modes that node-postgres takes for `verify-full`, which its next version will not. */
const verifiedModes = ['prefer', 'require', 'verify-ca'];
const tlsModes = ['disable', 'no-verify', ...verifiedModes, 'verify-full'];

/** Sets a mode that every version of node-postgres reads the same way, and checks the files of certificates. */
function checkTls({ searchParams }: URL): void {
  const mode = searchParams.get('sslmode');
  if (mode !== null && !tlsModes.includes(mode))
    throw new Error(`expected one of these as sslmode: ${tlsModes.join(', ')}`);
  if (searchParams.get('uselibpqcompat') !== 'true' && verifiedModes.includes(mode ?? ''))
    searchParams.set('sslmode', 'verify-full');
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = searchParams.get(name);
    if (file === null) continue;
    try {
      accessSync(file, constants.R_OK);
    } catch (cause) {
      const { code = 'error' } = cause as NodeJS.ErrnoException;
      throw new Error(`the file that ${name} names cannot be read (${code})`, { cause });
    }
  }
}

/** For a URL that is shown or sent to others. */
export function parsePlainUrl(value: string): string {
  const { username, password } = new URL(parseUrl(value, 'http:', 'https:'));
  if (username !== '' || password !== '')
    throw new Error('expected a URL without a user name and a password');
  return value;
}

/**
 * For a URL that paths are appended to. Returns it as browsers write it, with scheme and host in lower case, and
 * without slashes at the end.
 */
export function parseBaseUrl(value: string): string {
  const { origin, pathname } = new URL(parsePlainUrl(value));
  if (/[?#]/.test(value)) throw new Error('expected a URL without a query (?) and a fragment (#)');
  return origin + pathname.replace(/\/+$/, '');
}

const byteUnits: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** Bytes: `10485760`, `512k`, `10m`. */
export function parseBytes(value: string): number {
  const bytes = bytesOf(value);
  if (bytes < 1 || bytes > 256 * 1024 ** 2) {
    throw new Error('expected a size from 1 to 256m, such as 10485760, 512k or 10m');
  }
  return bytes;
}

/** Bytes of memory or disk: `64m`, `20g`. */
export function parseManyBytes(value: string): number {
  const bytes = bytesOf(value);
  if (bytes < 1) throw new Error('expected a size such as 512k, 64m or 20g');
  return bytes;
}

/** The maximum that S3 accepts in one upload. */
const maxFileBytes = 5 * 1024 ** 3;

/** Bytes of a file: `500m`, `2g`. */
export function parseFileBytes(value: string): number {
  const bytes = bytesOf(value);
  if (bytes < 1 || bytes > maxFileBytes) throw new Error('expected a size from 1 to 5g, such as 500m or 2g');
  return bytes;
}

const maxStoredBytes = 1024 ** 5;

/** Bytes on a disk: `20g`, `1t`. 0: none. */
export function parseStoredBytes(value: string): number {
  const bytes = bytesOf(value);
  if ((bytes === 0 && Number(value) !== 0) || bytes > maxStoredBytes)
    throw new Error('expected a size up to 1024t, such as 500m, 20g or 1t');
  return bytes;
}

function bytesOf(value: string): number {
  const match = /^(\d{1,12})\s*([kmgt]?)(i?b)?$/i.exec(value);
  return match === null ? 0 : Number(match[1]) * (byteUnits[match[2]!.toLowerCase()] ?? 1);
}

/** Where files are stored. */
export type FilesSetting = { kind: 'disk' } | { kind: 's3'; bucket: string; prefix: string };

/** `disk`, or `s3://bucket/prefix`. */
export function parseFiles(value: string): FilesSetting {
  if (value.toLowerCase() === 'disk') return { kind: 'disk' };
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]{0,200}))?$/.exec(value) ?? [];
  if (bucket === undefined) throw new Error('expected disk, or a bucket such as s3://bucket/prefix');
  return { kind: 's3', bucket, prefix: prefix.replaceAll(/^\/+|\/+$/g, '') };
}

/** A timer of Node that is set to more, which is 24 days, fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/** A duration for which a timer runs. */
export const parseTimer = (value: string): number => Math.min(parseDuration(value), maxTimerMs);

/** Parses a comma-separated list of known adapters, such as `fal`. */
export function parseAdapters(value: string): Adapter[] {
  return value.split(',').map((part) => {
    const found = adapters.find((adapter) => adapter === part.trim().toLowerCase());
    if (found === undefined)
      throw new Error(`expected adapters separated by commas, of these: ${adapters.join(', ')}`);
    return found;
  });
}

const windows = {
  s: { name: 'second', windowMs: 1_000 },
  m: { name: 'minute', windowMs: 60_000 },
  h: { name: 'hour', windowMs: 3_600_000 },
};

/** `10/s,100/m`: every window applies. `off`: no limit. */
export function parseRateLimits(value: string): RateLimits {
  if (value.trim().toLowerCase() === 'off') return [];
  return value.split(',').map((part) => {
    const [, limit = 0, unit = ''] = /^(\d{1,9})\/([smh])$/.exec(part.trim()) ?? [];
    if (Number(limit) < 1) throw new Error('expected limits such as 10/s,100/m (per s, m or h), or off');
    return { limit: Number(limit), ...windows[unit as keyof typeof windows] };
  });
}

/** Express's `trust proxy`: `true`, `false`, a number of hops, or addresses and networks. */
export function parseAddressList(value: string): boolean | number | string[] {
  if (/^(true|on)$/i.test(value)) return true;
  if (/^(false|off)$/i.test(value)) return false;
  if (/^\d{1,2}$/.test(value)) return Number(value);
  const addresses = value.split(',').map((part) => part.trim());
  try {
    proxyaddr.compile(addresses);
  } catch {
    throw new Error('expected true, false, a number of hops, or addresses such as loopback,10.0.0.0/8');
  }
  return addresses;
}

/** Comma-separated origins as browsers send them, or `*`. An origin that could never match is refused. */
export function parseOrigins(value: string): string[] {
  const texts = value.split(',').map((part) => part.trim());
  const origins = texts.filter((text) => text !== '');
  if (origins.some((origin) => (origin === '*' ? origins.length > 1 : !isOrigin(origin)))) {
    throw new Error(
      'expected origins as browsers send them, such as https://app.example.org or http://localhost:5173: scheme, ' +
        'host and, if it is not the usual one, port; no slash at the end, no path, no wildcard within. Or * alone, for any',
    );
  }
  return origins;
}

function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
