import type { Socket } from 'node:net';
import type { Config } from '../config/config.js';

export interface RequestUrls {
  response_url: string;
  status_url: string;
  cancel_url: string;
}

const hostName = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Where a call was sent to, as far as it can be believed; Express's requests are of this shape. */
export interface Target {
  host: string | undefined;
  secure: boolean;
  socket: Socket;
}

/** `PUBLIC_BASE_URL`, otherwise the scheme and host of the call (forwarded ones only behind a trusted proxy). */
export function baseUrl(target: Target, config: Config): string {
  if (config.publicBaseUrl !== undefined) return config.publicBaseUrl;
  const { host, secure, socket } = target;
  const { localAddress = config.host, localPort = config.port } = socket;
  // A Host that is none, or a forwarded scheme that is none, would end up in our URLs.
  return `${secure ? 'https' : 'http'}://${hostName.test(host ?? '') ? host : `${localAddress}:${localPort}`}`;
}

export function requestUrls(base: string, requestId: string): RequestUrls {
  const response_url = `${base}/v1/queue/requests/${requestId}`;
  return { response_url, status_url: `${response_url}/status`, cancel_url: `${response_url}/cancel` };
}
