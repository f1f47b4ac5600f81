import type { LookupAddress } from 'node:dns';
import { lookup, Resolver as DnsResolver } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { AtATime } from '../tools/at-a-time.js';

/** Look-ups that may wait for one in progress. */
const maxWaiting = 64;

/** How a name may be looked up. */
export interface NameOrigin {
  /** The operator gave the name, so its name servers are trusted. */
  isOperators: boolean;
  /** The name may lead to an address of the operator's network, which only the system may know. */
  mayBeLocal: boolean;
}

@Injectable()
export class Resolver {
  /** Look-ups of callers' names by the system. Each takes one of the process's four threads, so one runs at a time. */
  private readonly bySystem = new AtATime(1);

  /**
   * Never returns an empty list. Names of callers are looked up in DNS, because a dead name server would block the
   * threads that the system's look-ups take. The system knows more names: those of the hosts file and of search
   * domains. It looks up names that may be local, at once if they have no dot, and all names if no name server can be
   * reached.
   */
  async resolve(name: string, { isOperators, mayBeLocal }: NameOrigin): Promise<LookupAddress[]> {
    if (isOperators) return lookup(name, { all: true });
    if (mayBeLocal && !name.includes('.')) return this.lookUpBySystem(name);
    const dns = this.nameServers();
    const answers = await Promise.allSettled([dns.resolve4(name), dns.resolve6(name)]);
    const found = answers.flatMap((answer, i) => {
      const addresses = answer.status === 'fulfilled' ? answer.value : [];
      return addresses.map((address) => ({ address, family: i === 0 ? 4 : 6 }));
    });
    if (found.length > 0) return found;
    const failures = answers.flatMap((answer) =>
      answer.status === 'rejected' ? (answer.reason as NodeJS.ErrnoException) : [],
    );
    const slow = failures.find(({ code }) => code === 'ETIMEOUT');
    if (slow !== undefined) throw slow;
    const hasDns = failures.every(({ code }) => code !== 'ECONNREFUSED');
    if (hasDns && !mayBeLocal) throw unknownName(name);
    return this.lookUpBySystem(name);
  }

  private async lookUpBySystem(name: string): Promise<LookupAddress[]> {
    if (this.bySystem.waiting >= maxWaiting) throw unknownName(name);
    return this.bySystem.run(name, () => lookup(name, { all: true }));
  }

  /** Reads the system's list of name servers, because it may have changed. A resolver reads it only once. */
  protected nameServers(): DnsResolver {
    return new DnsResolver({ timeout: 3_000, tries: 2 });
  }
}

function unknownName(name: string): Error {
  return Object.assign(new Error(`no address of ${name} was found`), { code: 'ENOTFOUND' });
}
