import type { IncomingMessage } from 'node:http';
import { Logger } from '@nestjs/common';
import { Config } from '../config/config.js';
import { ClientAddress } from './client-address.js';

let warnings: string[];
const { warn } = Logger.prototype;
beforeEach(() => {
  warnings = [];
  Logger.prototype.warn = (message: string) => void warnings.push(message);
});
afterEach(() => (Logger.prototype.warn = warn));

function callThroughProxy(config: Partial<Config>): string {
  const addresses = new ClientAddress(Object.assign(new Config(), config));
  addresses.onApplicationBootstrap();
  const call = {
    socket: { remoteAddress: '10.0.0.1' },
    headers: { 'x-forwarded-for': '203.0.113.7' },
  } as unknown as IncomingMessage;
  addresses.of(call);
  return addresses.of(call);
}

test('where TRUST_PROXY is not set, calls through a proxy are warned of once', () => {
  expect(callThroughProxy({})).toBe('10.0.0.1');
  expect(warnings).toEqual([expect.stringContaining('Set TRUST_PROXY to the number of proxies')]);
});

test('where TRUST_PROXY says that there is no proxy, or which one, nothing is warned of', () => {
  expect(callThroughProxy({ environment: { TRUST_PROXY: 'false' } })).toBe('10.0.0.1');
  expect(callThroughProxy({ trustProxy: 1 })).toBe('203.0.113.7');
  expect(warnings).toEqual([]);
});

test('TRUST_PROXY=true is warned of at the start, for any client can name any address', () => {
  expect(callThroughProxy({ trustProxy: true })).toBe('203.0.113.7');
  expect(warnings).toEqual([expect.stringContaining('any client can invent its address')]);
});
