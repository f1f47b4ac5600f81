import { parseAllowedAddresses } from './allowed-addresses.js';

const shown = (text: string): string[] =>
  parseAllowedAddresses(text).map(({ host, network, port }) => {
    const what = host ?? `${network![0].toString()}/${network![1]}`;
    return port === undefined ? what : `${what} ${port}`;
  });

test.each([
  ['hooks.internal', ['hooks.internal']],
  ['Hooks.Internal.:8080, localhost', ['hooks.internal 8080', 'localhost', '127.0.0.1/32', '::1/128']],
  ['127.0.0.1', ['127.0.0.1/32']],
  ['127.0.0.1:9000,10.0.0.0/8', ['127.0.0.1/32 9000', '10.0.0.0/8']],
  ['::1,[::1]:9000,fd00::/8', ['::1/128', '::1/128 9000', 'fd00::/8']],
])('%s', (text, entries) => expect(shown(text)).toEqual(entries));

test.each([
  '*',
  'https://a.example',
  'a b',
  '10.0.0.0/33',
  '10.0.0',
  'a.example:0',
  'a.example:65536',
  '[::1',
  '300.1.1.1',
])('%s is refused', (text) =>
  expect(() => parseAllowedAddresses(text)).toThrow('expected hosts, addresses and networks'),
);
