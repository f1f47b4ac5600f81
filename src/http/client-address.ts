import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import proxyaddr from 'proxy-addr';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { hostAndPort } from './listen.js';

const hostName = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
/** An address as proxies write it: with brackets, a port or quotes, or without. */
const forwardedAddress = /^"?(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::\d{1,5})?"?$/;

/** Finds who calls and at which URL, behind proxies too. Forwarded fields count as far as `TRUST_PROXY` allows. */
@Injectable()
export class ClientAddress implements OnApplicationBootstrap {
  private readonly log = new Logger(ClientAddress.name);
  /** TRUST_PROXY is not set: the first call with a forwarded address is logged. */
  private isUntold: boolean;
  /** Returns whether the machine at this address, `hop` hops away, is trusted. */
  private readonly trust: (address: string, hop: number) => boolean;
  /** The base URL that was found valid last. Nearly all calls have the same. */
  private knownBase = '';

  constructor(private readonly config: Config) {
    const { trustProxy, environment } = config;
    this.isUntold = trustProxy === false && environment['TRUST_PROXY'] === undefined;
    if (typeof trustProxy === 'boolean') this.trust = () => trustProxy;
    else if (typeof trustProxy === 'number') this.trust = (_, hop) => hop < trustProxy;
    else this.trust = proxyaddr.compile(trustProxy);
  }

  onApplicationBootstrap(): void {
    if (this.config.trustProxy !== true) return;
    this.log.warn(
      'TRUST_PROXY=true trusts any X-Forwarded-For, so any client can invent its address. Set the number of ' +
        'proxies in front of the service, such as TRUST_PROXY=1, or their networks.',
    );
  }

  /** Returns the address of the client, or that of the connection if the forwarded one is no address. */
  of(request: IncomingMessage): string {
    const { remoteAddress = '' } = request.socket;
    if (this.config.trustProxy === false) {
      if (this.isUntold && request.headers['x-forwarded-for'] !== undefined) this.warnOfProxy(remoteAddress);
      return remoteAddress;
    }
    const hops = [remoteAddress, ...forwardedFor(request)];
    let client = 0;
    while (client < hops.length - 1 && this.trust(hops[client]!, client)) client++;
    return isIP(hops[client]!) === 0 ? remoteAddress : hops[client]!;
  }

  private warnOfProxy(address: string): void {
    this.isUntold = false;
    this.log.warn(
      `A call from ${address} came with X-Forwarded-For, and TRUST_PROXY is not set: all callers behind a proxy count as ` +
        'one address. Set TRUST_PROXY to the number of proxies in front of the service, or to false if there is none.',
    );
  }

  /** Returns `PUBLIC_BASE_URL`, otherwise the scheme and host of the call. Throws `bad_request` for what is no host. */
  baseUrl({ socket, headers }: IncomingMessage): string {
    const { publicBaseUrl, trustProxy } = this.config;
    if (publicBaseUrl !== undefined) return publicBaseUrl;
    const isForwarded = trustProxy !== false && this.trust(socket.remoteAddress ?? '', 0);
    const ownScheme = socket instanceof TLSSocket ? 'https' : 'http';
    const forwardedScheme = isForwarded ? first(headers['x-forwarded-proto']) : undefined;
    const scheme = (forwardedScheme ?? ownScheme) === 'https' ? 'https' : 'http';
    const forwardedHost = isForwarded ? first(headers['x-forwarded-host']) : undefined;
    const host = forwardedHost ?? headers.host ?? this.ownHost(socket);
    const base = `${scheme}://${host}`;
    if (base === this.knownBase) return base;
    // Anything else would end up in our URLs. The pattern by itself accepts port 99999 and the address 1.2.3.4.5.
    if (hostName.test(host) && URL.canParse(base)) return (this.knownBase = base);
    throw noHost(forwardedHost === undefined ? 'Host' : 'X-Forwarded-Host');
  }

  /** Only HTTP/1.0 knows calls without a Host. */
  private ownHost({ localAddress = this.config.host, localPort = this.config.port }: Socket): string {
    return hostAndPort(localAddress, localPort);
  }
}

function noHost(field: string): DomainError {
  const detail =
    `The header "${field}" must be a host, such as queue.example.org or 127.0.0.1:3000, because the URLs in the ` +
    'answer begin with it.';
  return new DomainError('bad_request', detail);
}

/** Returns the forwarded addresses, the nearest first. */
function forwardedFor({ headers }: IncomingMessage): string[] {
  const field = String(headers['x-forwarded-for'] ?? '');
  // Usually there is one proxy, and the field has only an address.
  if (isIP(field) !== 0) return [field];
  return field
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .reverse()
    .map(bareAddress);
}

function bareAddress(entry: string): string {
  const [, bracketed, plain] = forwardedAddress.exec(entry) ?? [];
  return bracketed ?? plain ?? entry;
}

/** Each proxy on the way may have added to the field. The first value is the client's own. */
function first(field: string | string[] | undefined): string | undefined {
  return (typeof field === 'string' ? field : field?.[0])?.split(',', 1)[0]!.trim() || undefined;
}
