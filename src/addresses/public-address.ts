import ipaddr from 'ipaddr.js';

/** Azure serves instance metadata at an address that looks public. */
const metadata = new Set(['168.63.129.16']);

/**
 * Returns whether an address is on the internet. It must not be private, loopback, link-local, shared, multicast or
 * reserved. Nor may it be an IPv6 form of an IPv4 address (mapped, 6to4, NAT64, Teredo), which might lead to one of
 * those.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast' || metadata.has(address.toString())) return false;
  // Only 2000::/3 of IPv6 is allocated.
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).parts[0]! >> 13 === 1;
}
