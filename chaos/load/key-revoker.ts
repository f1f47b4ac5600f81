import { randomUUID } from 'node:crypto';
import type { Cluster } from '../cluster/cluster.js';
import { now, sleep, within } from '../clock.js';
import type { Random } from '../random.js';
import type { ApiClient } from './api-client.js';
import type { Caller } from './caller.js';
import { storeKeys, withKey } from './callers.js';

const everyMs = 12_000;
/** How long calls with the revoked key go on. */
const afterMs = 9_000;

/** One key that was revoked while all nodes served it. */
export interface Revocation {
  key: string;
  /** The time at which the database had acknowledged the revocation. */
  revokedAt: number;
  /** Calls that were served. */
  served: { node: string; sentAt: number; answeredAt: number }[];
  /** Calls that were refused because of an invalid key. */
  turnedAway: number;
}

/** Revokes keys while they are in use, whatever is broken. */
export class KeyRevoker {
  readonly revocations: Revocation[] = [];
  /** A request that does not exist: the service checks the key before it looks for the request. */
  private readonly path = `requests/${randomUUID()}/status`;

  constructor(
    private readonly cluster: Cluster,
    private readonly client: ApiClient,
    private readonly random: Random,
  ) {}

  async run(keepOn: () => boolean): Promise<void> {
    for (let n = 0; keepOn(); n++) {
      await this.revokeOne(`revoked-${n}`, keepOn);
      await sleep(this.random.between(0, 2 * everyMs - afterMs));
    }
  }

  private async revokeOne(name: string, keepOn: () => boolean): Promise<void> {
    const { postgres } = this.cluster;
    const caller = withKey(name);
    if (!(await within(30_000, () => done(storeKeys(postgres, [caller]))))) return;
    this.cluster.callers.revocable.push(caller);
    const revocation: Revocation = { key: name, revokedAt: Infinity, served: [], turnedAway: 0 };
    this.revocations.push(revocation);
    let using = true;
    const users = this.cluster.apiNodes.map(async (node) => {
      while (using) {
        void this.use(caller, node, revocation);
        await sleep(this.random.between(200, 500));
      }
    });
    await sleep(this.random.between(1_000, 3_000));
    const revoke = 'UPDATE api_key SET revoked_at = now() WHERE id = $1';
    const revoked = await within(30_000, () => done(postgres.query(revoke, [caller.keyId])));
    if (revoked) {
      revocation.revokedAt = now();
      await within(afterMs, () => !keepOn() && now() - revocation.revokedAt > 6_000);
    }
    using = false;
    await Promise.all(users);
  }

  private async use(caller: Caller, node: Cluster['nodes'][number], revocation: Revocation): Promise<void> {
    const answer = await this.client.call(caller, node, 'GET', this.path);
    if (answer?.status === 404) {
      const { sentAt, answeredAt } = answer;
      revocation.served.push({ node: node.name, sentAt, answeredAt });
    }
    if (answer?.status === 401) revocation.turnedAway++;
  }
}

async function done(work: Promise<unknown>): Promise<boolean> {
  await work;
  return true;
}
