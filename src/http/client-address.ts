import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import proxyaddr from 'proxy-addr';
import { Config } from '../config/config.js';

const hostName = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Finds who calls and at which URL, behind proxies too. Forwarded fields count as far as `TRUST_PROXY` allows. */
@Injectable()
export class ClientAddress implements OnApplicationBootstrap {
  private readonly log = new Logger(ClientAddress.name);
  /** TRUST_PROXY is not set: the first call with a forwarded address is logged. */
  private isUntold: boolean;
  /** Whether the machine at this address, `hop` hops away, is trusted. */
  private readonly trust: (address: string, hop: number) => boolean;

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
    const address = proxyaddr(request, this.trust) ?? '';
    return isIP(address) === 0 ? remoteAddress : address;
  }

  private warnOfProxy(address: string): void {
    this.isUntold = false;
    this.log.warn(
      `A call from ${address} came with X-Forwarded-For, and TRUST_PROXY is not set: all callers behind a proxy count as ` +
        'one address. Set TRUST_PROXY to the number of proxies in front of the service, or to false if there is none.',
    );
  }

  /** Returns `PUBLIC_BASE_URL`, otherwise the scheme and host of the call. */
  baseUrl({ socket, headers }: IncomingMessage): string {
    const { publicBaseUrl, host: ownHost, port, trustProxy } = this.config;
    if (publicBaseUrl !== undefined) return publicBaseUrl;
    const isForwarded = trustProxy !== false && this.trust(socket.remoteAddress ?? '', 0);
    const ownScheme = socket instanceof TLSSocket ? 'https' : 'http';
    const forwardedScheme = isForwarded ? first(headers['x-forwarded-proto']) : undefined;
    const scheme = (forwardedScheme ?? ownScheme) === 'https' ? 'https' : 'http';
    const host = (isForwarded && first(headers['x-forwarded-host'])) || headers.host || '';
    // An invalid Host would end up in our URLs.
    if (hostName.test(host)) return `${scheme}://${host}`;
    const { localAddress = ownHost, localPort = port } = socket;
    return `${scheme}://${localAddress}:${localPort}`;
  }
}

/** Each proxy on the way may have added to the field. The first value is the client's own. */
function first(field: string | string[] | undefined): string | undefined {
  return (typeof field === 'string' ? field : field?.[0])?.split(',', 1)[0]!.trim() || undefined;
}
