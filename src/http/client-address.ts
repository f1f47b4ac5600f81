import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Injectable } from '@nestjs/common';
import proxyaddr from 'proxy-addr';
import { Config } from '../config/config.js';

const hostName = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Who calls and where to, behind proxies too: forwarded fields count as far as `TRUST_PROXY` goes. */
@Injectable()
export class ClientAddress {
  /** Whether the machine at this address, so many hops away, is believed. */
  private readonly trust: (address: string, hop: number) => boolean;

  constructor(private readonly config: Config) {
    const { trustProxy } = config;
    if (typeof trustProxy === 'boolean') this.trust = () => trustProxy;
    else if (typeof trustProxy === 'number') this.trust = (_, hop) => hop < trustProxy;
    else this.trust = proxyaddr.compile(trustProxy);
  }

  /** The address of the client; the connection's own where what was forwarded is none. */
  of(request: IncomingMessage): string {
    const { remoteAddress = '' } = request.socket;
    if (this.config.trustProxy === false) return remoteAddress;
    const address = proxyaddr(request, this.trust) ?? '';
    return isIP(address) === 0 ? remoteAddress : address;
  }

  /** `PUBLIC_BASE_URL`, otherwise the scheme and host of the call. */
  baseUrl({ socket, headers }: IncomingMessage): string {
    const { publicBaseUrl, host: ownHost, port, trustProxy } = this.config;
    if (publicBaseUrl !== undefined) return publicBaseUrl;
    const isForwarded = trustProxy !== false && this.trust(socket.remoteAddress ?? '', 0);
    const ownScheme = socket instanceof TLSSocket ? 'https' : 'http';
    const forwardedScheme = isForwarded ? first(headers['x-forwarded-proto']) : undefined;
    const scheme = (forwardedScheme ?? ownScheme) === 'https' ? 'https' : 'http';
    const host = (isForwarded && first(headers['x-forwarded-host'])) || headers.host || '';
    // A Host that is none would end up in our URLs.
    if (hostName.test(host)) return `${scheme}://${host}`;
    const { localAddress = ownHost, localPort = port } = socket;
    return `${scheme}://${localAddress}:${localPort}`;
  }
}

/** The field may have been added to by each proxy on the way: the first is the client's own. */
function first(field: string | string[] | undefined): string | undefined {
  return (typeof field === 'string' ? field : field?.[0])?.split(',', 1)[0]!.trim() || undefined;
}
