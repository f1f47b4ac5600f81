import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { ClientAddress } from './client-address.js';

const hostName = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** `PUBLIC_BASE_URL`, otherwise the scheme and host of the call (forwarded ones only behind a trusted proxy). */
@Injectable()
export class BaseUrl {
  constructor(
    private readonly config: Config,
    private readonly addresses: ClientAddress,
  ) {}

  of(request: IncomingMessage): string {
    const { publicBaseUrl, host: ownHost, port } = this.config;
    if (publicBaseUrl !== undefined) return publicBaseUrl;
    const scheme = this.addresses.isSecure(request) ? 'https' : 'http';
    const host = this.addresses.host(request) ?? '';
    // A Host that is none would end up in our URLs.
    if (hostName.test(host)) return `${scheme}://${host}`;
    const { localAddress = ownHost, localPort = port } = request.socket;
    return `${scheme}://${localAddress}:${localPort}`;
  }
}
