import type { LookupAddress } from 'node:dns';
import { lookup, Resolver as DnsResolver } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';

@Injectable()
export class Resolver {
  /**
   * Never returns an empty list. The system resolver is used only for names that the operator gave, names without a
   * dot, and names that DNS does not know (hosts file). Each of its look-ups takes one of the process's four threads,
   * and a dead name server would block them all.
   */
  async resolve(name: string, isOperators: boolean): Promise<LookupAddress[]> {
    if (isOperators || !name.includes('.')) return lookup(name, { all: true });
    const dns = this.nameServers();
    const answers = await Promise.allSettled([dns.resolve4(name), dns.resolve6(name)]);
    const found = answers.flatMap((answer, i) => {
      const addresses = answer.status === 'fulfilled' ? answer.value : [];
      return addresses.map((address) => ({ address, family: i === 0 ? 4 : 6 }));
    });
    if (found.length > 0) return found;
    for (const answer of answers) {
      if (answer.status === 'rejected' && isTimeout(answer.reason)) throw answer.reason;
    }
    return lookup(name, { all: true });
  }

  /** Reads the system's list of name servers, because it may have changed. A resolver reads it only once. */
  protected nameServers(): DnsResolver {
    return new DnsResolver({ timeout: 3_000, tries: 2 });
  }
}

function isTimeout(error: unknown): error is Error {
  return (error as NodeJS.ErrnoException).code === 'ETIMEOUT';
}
