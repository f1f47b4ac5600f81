import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import type { AllowedAddress } from '../config/allowed-addresses.js';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { isPublicAddress } from './public-address.js';
import { Resolver } from './resolver.js';

type LookupRest = Parameters<LookupFunction> extends [string, ...infer Rest] ? Rest : never;

const maxBytes = 2_048;
/** RFC 1035, 2.3.4: 255 bytes, of which two are no characters of the text. */
const maxHostLength = 253;
const needsHttps = 'must begin with https://';
const needsPublic = 'must go to a public address';
const unlessAllowed = ', unless the setting WEBHOOK_ALLOW names its host';

export const addressRefused = 'ADDRESS_REFUSED';

/** The error's code distinguishes it from a network failure. */
const refused = (): Error => Object.assign(new Error(needsPublic), { code: addressRefused });

/** The addresses that callers may make the service call: https to public addresses, and what WEBHOOK_ALLOW names. */
@Injectable()
export class AddressRule {
  private readonly allowed: readonly AllowedAddress[];

  constructor(
    { webhookAllow }: Config,
    private readonly resolver: Resolver,
  ) {
    this.allowed = webhookAllow;
  }

  /**
   * Returns what is wrong with a URL, as words after "it". undefined: nothing, as far as is known before its name is
   * resolved.
   */
  refusalOf(text: string): string | undefined {
    if (Buffer.byteLength(text) > maxBytes) return `must not be longer than ${maxBytes} bytes`;
    if (!URL.canParse(text)) return 'must be a URL such as https://example.org/hook';
    const url = new URL(text);
    if (url.hostname.length > maxHostLength)
      return `must not have a host name of more than ${maxHostLength} characters`;
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return needsHttps;
    if (url.username !== '' || url.password !== '') return 'must not have a user name or password in it';
    if (url.port === '0') return 'must not have port 0, to which nothing can connect';
    const host = hostOf(url);
    if (this.isNamed(url)) return undefined;
    if (url.protocol === 'http:') return needsHttps + unlessAllowed;
    const isOurs = host === 'localhost' || host.endsWith('.localhost');
    return isOurs || (isIP(host) !== 0 && !isPublicAddress(host)) ? needsPublic + unlessAllowed : undefined;
  }

  /** Throws `invalid_query` unless requests may name this URL as their webhook. */
  assertWebhookUrl(text: string): void {
    const refusal = this.refusalOf(text);
    if (refusal === undefined) return;
    throw new DomainError('invalid_query', `The webhook cannot be used: its URL ${refusal}.`);
  }

  /**
   * Returns a lookup that yields only allowed addresses of a URL. The address connected to is therefore the one that
   * was checked, even if the name changes a moment later. An address in the URL itself is never looked up; `refusalOf`
   * checks it.
   */
  lookupFor(url: URL): LookupFunction {
    return (name, options, answer) => void this.lookUp(url, name, options, answer);
  }

  private async lookUp(url: URL, name: string, ...[options, answer]: LookupRest): Promise<void> {
    let found: LookupAddress[];
    try {
      found = await this.addressesOf(name, url);
    } catch (error) {
      return answer(error as Error, '');
    }
    const family = Number(options.family ?? 0);
    const fitting = family === 4 || family === 6 ? found.filter((one) => one.family === family) : found;
    const [first] = fitting;
    if (first === undefined) return answer(refused(), '');
    return options.all === true ? answer(null, fitting) : answer(null, first.address, first.family);
  }

  private async addressesOf(name: string, url: URL): Promise<LookupAddress[]> {
    const isNamed = this.isNamedHost(url);
    const mayBeLocal = this.allowed.some(({ network }) => network !== undefined);
    const addresses = await this.resolver.resolve(name, { isOperators: isNamed, mayBeLocal });
    if (isNamed) return addresses;
    const isPublicEnough = (address: string): boolean =>
      url.protocol === 'https:' && isPublicAddress(address);
    return addresses.filter(
      ({ address }) => isPublicEnough(address) || this.isNamedAddress(address, portOf(url)),
    );
  }

  private isNamed(url: URL): boolean {
    const host = hostOf(url);
    const ofMachine = host === 'localhost' ? ['127.0.0.1', '::1'] : [];
    const addresses = isIP(host) === 0 ? ofMachine : [host];
    return this.isNamedHost(url) || addresses.some((address) => this.isNamedAddress(address, portOf(url)));
  }

  private isNamedHost(url: URL): boolean {
    const [host, ownPort] = [hostOf(url), portOf(url)];
    return this.allowed.some((one) => one.host === host && (one.port ?? ownPort) === ownPort);
  }

  private isNamedAddress(text: string, ownPort: number): boolean {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return this.allowed.some(({ network, port = ownPort }) => {
      if (network === undefined || port !== ownPort) return false;
      return network[0].kind() === address.kind() && address.match(network as [ipaddr.IPv4, number]);
    });
  }
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}
