import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { Injectable } from '@nestjs/common';
import proxyaddr from 'proxy-addr';
import { Config } from '../config/config.js';

/** `TRUST_PROXY` as `proxy-addr` has it: whether the machine at this address, so many hops away, is believed. */
function trustOf(setting: Config['trustProxy']): (address: string, hop: number) => boolean {
  if (typeof setting === 'boolean') return () => setting;
  if (typeof setting === 'number') return (_, hop) => hop < setting;
  return proxyaddr.compile(setting);
}

/** Who calls and where to, behind proxies too: forwarded fields count as far as `TRUST_PROXY` goes. */
@Injectable()
export class ClientAddress {
  private readonly trust: (address: string, hop: number) => boolean;
  private readonly trustsNobody: boolean;

  constructor(config: Config) {
    this.trust = trustOf(config.trustProxy);
    this.trustsNobody = config.trustProxy === false;
  }

  /** The address of the client; the connection's own where what was forwarded is none. */
  of(request: IncomingMessage): string {
    const { remoteAddress = '' } = request.socket;
    if (this.trustsNobody) return remoteAddress;
    const address = proxyaddr(request, this.trust) ?? '';
    return isIP(address) === 0 ? remoteAddress : address;
  }

  /** The host that the client called, with its port; undefined: it named none. */
  host(request: IncomingMessage): string | undefined {
    return (this.isForwarded(request) && first(request.headers['x-forwarded-host'])) || request.headers.host;
  }

  isSecure(request: IncomingMessage): boolean {
    const scheme = this.isForwarded(request) ? first(request.headers['x-forwarded-proto']) : undefined;
    return scheme === undefined ? request.socket instanceof TLSSocket : scheme === 'https';
  }

  private isForwarded({ socket }: IncomingMessage): boolean {
    return !this.trustsNobody && this.trust(socket.remoteAddress ?? '', 0);
  }
}

/** The field may have been added to by each proxy on the way: the first is the client's own. */
function first(field: string | string[] | undefined): string | undefined {
  return (typeof field === 'string' ? field : field?.[0])?.split(',', 1)[0]!.trim() || undefined;
}
