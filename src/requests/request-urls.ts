import type { Request } from 'express';
import type { Config } from '../config/config.js';

export interface RequestUrls {
  response_url: string;
  status_url: string;
  cancel_url: string;
}

const hostName = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** `PUBLIC_BASE_URL`, otherwise the scheme and host of the call (forwarded ones only behind a trusted proxy). */
export function baseUrl(request: Request, config: Config): string {
  if (config.publicBaseUrl !== undefined) return config.publicBaseUrl;
  const host = request.host;
  const { localAddress = config.host, localPort = config.port } = request.socket;
  // A Host that is none, or a forwarded scheme that is none, would end up in our URLs.
  return `${request.secure ? 'https' : 'http'}://${hostName.test(host ?? '') ? host : `${localAddress}:${localPort}`}`;
}

export function requestUrls(base: string, requestId: string): RequestUrls {
  const response_url = `${base}/v1/queue/requests/${requestId}`;
  return { response_url, status_url: `${response_url}/status`, cancel_url: `${response_url}/cancel` };
}
