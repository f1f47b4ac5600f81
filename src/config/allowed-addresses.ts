import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A host or a range of addresses that webhooks may go to, besides https to public addresses. */
export interface AllowedAddress {
  host: string | undefined;
  network: readonly [Address, number] | undefined;
  /** undefined: any. */
  port: number | undefined;
}

const expected =
  'expected hosts, addresses and networks separated by commas, such as hooks.internal,127.0.0.1:9000,10.0.0.0/8';

/**
 * Parses a comma-separated list such as `hooks.internal`, `hooks.internal:8080`, `10.0.0.7`, `[::1]:9000`,
 * `10.0.0.0/8`.
 */
export function parseAllowedAddresses(value: string): AllowedAddress[] {
  const parts = value.split(',').map((part) => part.trim().toLowerCase());
  const entries = parts.filter((part) => part !== '').map(parseOne);
  const ofMachine = entries.filter(({ host }) => host === 'localhost');
  const addresses = ofMachine.flatMap(({ port }) =>
    ['127.0.0.1', '::1'].map((address) => ({ host: undefined, network: networkOf(address), port })),
  );
  return [...entries, ...addresses];
}

function parseOne(text: string): AllowedAddress {
  if (ipaddr.isValidCIDR(text)) {
    return { host: undefined, network: ipaddr.parseCIDR(text), port: undefined };
  }
  if (ipaddr.IPv6.isValid(text)) return { host: undefined, network: networkOf(text), port: undefined };
  const [, inBrackets, name, portText] =
    /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) throw new Error(expected);
  const address = inBrackets ?? (ipaddr.IPv4.isValidFourPartDecimal(name ?? '') ? name : undefined);
  if (address !== undefined && ipaddr.isValid(address))
    return { host: undefined, network: networkOf(address), port };
  if (name === undefined || /^[\d.]+$/.test(name)) throw new Error(expected);
  return { host: name.replace(/\.$/, ''), network: undefined, port };
}

function networkOf(text: string): [Address, number] {
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
