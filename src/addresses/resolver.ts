import { Resolver as DnsResolver } from 'node:dns/promises';
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { Injectable } from '@nestjs/common';

/** Finds the addresses of names. */
@Injectable()
export class Resolver {
  private readonly dns = new DnsResolver({ timeout: 3_000, tries: 2 });

  /** Never empty. */
  async resolve(name: string): Promise<LookupAddress[]> {
    const answers = await Promise.allSettled([this.dns.resolve4(name), this.dns.resolve6(name)]);
    const [v4, v6] = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const found = [
      ...v4!.map((address) => ({ address, family: 4 })),
      ...v6!.map((address) => ({ address, family: 6 })),
    ];
    if (found.length > 0) return found;
    const late = answers.find(({ status, ...answer }) => status === 'rejected' && isTimeout(answer));
    if (late !== undefined) throw (late as PromiseRejectedResult).reason as Error;
    // The system knows names of its own (hosts file); it takes a thread of a few, which a dead name server would hold.
    return lookup(name, { all: true });
  }
}

function isTimeout(answer: object): boolean {
  const { reason } = answer as { reason?: NodeJS.ErrnoException };
  return reason?.code === 'ETIMEOUT';
}
