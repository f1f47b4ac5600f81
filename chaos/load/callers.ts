import { randomBytes, randomUUID } from 'node:crypto';
import { KeySecret } from '../../src/auth/key-secret.js';
import type { Postgres } from '../cluster/postgres.js';
import { Caller, shippedLimits, type Limits } from './caller.js';

const ample: Limits = { submit: '200/s,6000/m', other: '200/s,6000/m' };

/** All callers. Each has limits, most of them the shipped ones. */
export class Callers {
  /** The bootstrap key. */
  readonly main = withKey('bootstrap');
  /** Callers of small requests of every kind, a few a minute each. */
  readonly regular = [
    this.main,
    withKey('second', { submit: '20/s,300/m', other: '50/s,900/m' }),
    ...many(40, (n) => withKey(`regular-${n}`)),
  ];
  /** A caller that tries to exceed small limits all the time. */
  readonly limited = withKey('limited', { submit: '5/s,60/m', other: '8/s,120/m' });
  /**
   * Asks whether nodes serve again, so its limits must not make it wait. After a crash everything that the lost shares
   * allowed counts as used, which would take up a minute.
   */
  readonly probe = withKey('probe', { submit: '200/s', other: '200/s' });
  /** Callers that make the bursts together, each far below its limits. */
  readonly burst = many(500, (n) => withKey(`burst-${n}`));
  /** Callers that always have work for the model that they share. */
  readonly busy = many(10, (n) => withKey(`busy-${n}`, ample));
  /** The same for a model of workers. */
  readonly busyWithWorkers = many(4, (n) => withKey(`team-${n}`, ample));
  /** The key of all workers. Calls of workers are not counted: with these limits none would get through. */
  readonly worker = withKey('worker', { submit: '1/m', other: '1/m' });
  /** The caller of a queue that is very long. */
  readonly deep = withKey('deep', ample);
  /** Callers that exceed the shipped limits in every burst. */
  readonly greedy = many(12, (n) => withKey(`greedy-${n}`));
  /** Callers without a key, behind a proxy. */
  readonly keyless = many(
    100,
    (n) => new Caller(`address-${n}`, { address: `198.51.${Math.floor(n / 50)}.${n % 50}` }),
  );
  /** Callers that read positions only, because after a crash earlier callers may be refused for a minute. */
  readonly auditors = many(250, (n) => new Caller(`auditor-${n}`, { address: `203.0.113.${n}` }));
  /** Keys that expire when the database's clock is stepped. */
  readonly expiring: Caller[] = [];
  /** Keys that are made and revoked during the run. */
  readonly revocable: Caller[] = [];

  get all(): Caller[] {
    const single = [this.limited, this.probe, this.worker, this.deep];
    return [
      ...this.regular,
      ...single,
      ...this.burst,
      ...this.busy,
      ...this.busyWithWorkers,
      ...this.greedy,
      ...this.revocable,
      ...this.keyless,
      ...this.auditors,
    ];
  }

  /** The settings of a node that creates the bootstrap key. */
  get environment(): Record<string, string> {
    return { BOOTSTRAP_API_KEY: this.main.key };
  }

  /** Writes the keys; the bootstrap key exists already. */
  async store(postgres: Pick<Postgres, 'query'>): Promise<void> {
    const [bootstrap] = await postgres.query<{ id: string }>('SELECT id FROM api_key WHERE name = $1', [
      this.main.name,
    ]);
    this.main.keyId = bootstrap!.id;
    await storeKeys(
      postgres,
      this.all.filter((caller) => caller !== this.main && caller !== this.worker && 'key' in caller.identity),
    );
    await storeKeys(postgres, [this.worker], ['work']);
  }
}

export function withKey(name: string, limits?: Limits): Caller {
  return new Caller(name, { key: `chaos_${randomBytes(24).toString('hex')}` }, limits);
}

export async function storeKeys(
  postgres: Pick<Postgres, 'query'>,
  callers: readonly Caller[],
  scopes = ['submit', 'read', 'cancel'],
): Promise<void> {
  const rows = callers.map((caller) => {
    caller.keyId = randomUUID();
    const own = caller.limits === shippedLimits ? undefined : caller.limits;
    return {
      id: caller.keyId,
      name: caller.name,
      hash: new KeySecret(caller.key).hash().toString('hex'),
      submit: own?.submit,
      other: own?.other,
    };
  });
  await postgres.query(
    `INSERT INTO api_key (id, name, prefix, hash, scopes, rate_limit_submit, rate_limit_other)
     SELECT id, name, 'chaos', decode(hash, 'hex'), $2, submit, other
     FROM json_to_recordset($1) AS key (id uuid, name text, hash text, submit text, other text)`,
    [JSON.stringify(rows), scopes],
  );
}

function many(count: number, make: (n: number) => Caller): Caller[] {
  return Array.from({ length: count }, (_, n) => make(n));
}
