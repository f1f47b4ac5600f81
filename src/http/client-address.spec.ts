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

function callThroughProxy(config: Partial<Config>, forwardedFor = '203.0.113.7'): string {
  const addresses = new ClientAddress(Object.assign(new Config(), config));
  addresses.onApplicationBootstrap();
  const call = {
    socket: { remoteAddress: '10.0.0.1' },
    headers: { 'x-forwarded-for': forwardedFor },
  } as unknown as IncomingMessage;
  addresses.of(call);
  return addresses.of(call);
}

test('calls through a proxy cause one warning while TRUST_PROXY is not set', () => {
  expect(callThroughProxy({})).toBe('10.0.0.1');
  expect(warnings).toEqual([expect.stringContaining('Set TRUST_PROXY to the number of proxies')]);
});

test('no warning is logged if TRUST_PROXY is false or the number of proxies', () => {
  expect(callThroughProxy({ environment: { TRUST_PROXY: 'false' } })).toBe('10.0.0.1');
  expect(callThroughProxy({ trustProxy: 1 })).toBe('203.0.113.7');
  expect(warnings).toEqual([]);
});

test('TRUST_PROXY=true causes a warning at the start, because any client can invent its address', () => {
  expect(callThroughProxy({ trustProxy: true })).toBe('203.0.113.7');
  expect(warnings).toEqual([expect.stringContaining('any client can invent its address')]);
});

test.each([
  ['203.0.113.7:5678', '203.0.113.7'],
  ['"203.0.113.7:5678"', '203.0.113.7'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['"[2001:db8::1]:443"', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
  ['198.51.100.1, 203.0.113.7:5678', '203.0.113.7'],
  [' 203.0.113.7:5678 ,, ', '203.0.113.7'],
  // No address at all.
  ['unknown', '10.0.0.1'],
  ['_hidden:5678', '10.0.0.1'],
  ['203.0.113.7:5678:1', '10.0.0.1'],
  ['203.0.113.7:', '10.0.0.1'],
  ['[203.0.113', '10.0.0.1'],
  ['', '10.0.0.1'],
])('X-Forwarded-For: %s comes from %s', (field, client) =>
  expect(callThroughProxy({ trustProxy: 1 }, field)).toBe(client),
);

test('a proxy that adds ports is trusted by its address', () => {
  const trustProxy = ['10.0.0.0/8', 'fd00::/8'];
  const hops = '198.51.100.1, 203.0.113.7:1, "[fd00::1]:2", 10.0.0.2:3';
  expect(callThroughProxy({ trustProxy }, hops)).toBe('203.0.113.7');
  expect(callThroughProxy({ trustProxy: 2 }, hops)).toBe('fd00::1');
  expect(callThroughProxy({ trustProxy: true }, hops)).toBe('198.51.100.1');
});
