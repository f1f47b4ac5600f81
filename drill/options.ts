import { parseArgs } from 'node:util';
import { today, wholeNumber } from '../chaos/options.js';

export interface Options {
  /** Each fault comes once in a round. */
  rounds: number;
  seed: number;
  /** Without synchronous replication: measures what that loses. */
  async: boolean;
  /** `synchronous_mode_strict`: no write while no standby is there to have it. */
  strict: boolean;
  /** PgBouncer in transaction mode between the services and HAProxy. */
  pgbouncer: boolean;
  /** Only these kinds of faults; empty: all. */
  only: string[];
  /** Keeps the directory with the logs. */
  keep: boolean;
}

export const usage = `npm run drill -- failover      every fault once
  --rounds 5                  this many times
  --only 'primary killed'     only these faults, with commas between them
  --async                     asynchronous replication: measures what it loses
  --strict                    synchronous_mode_strict
  --pgbouncer                 PgBouncer between the services and HAProxy
  --seed 7                    the draws of load and faults
  --keep                      keeps the directory with the logs`;

/** undefined: the arguments name no drill. */
export function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '1' },
      seed: { type: 'string', default: today() },
      async: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      pgbouncer: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      keep: { type: 'boolean', default: false },
    },
  });
  if (positionals.join() !== 'failover') return undefined;
  if (values.async && values.strict) throw new Error('--async and --strict exclude each other');
  return {
    rounds: wholeNumber('--rounds', values.rounds, 1, 100),
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 31),
    async: values.async,
    strict: values.strict,
    pgbouncer: values.pgbouncer,
    only: values.only.split(',').filter((kind) => kind !== ''),
    keep: values.keep,
  };
}

/** The command that repeats a drill. */
export function commandFor({ rounds, seed, async, strict, pgbouncer, only }: Options): string {
  const flags = Object.entries({ async, strict, pgbouncer }).flatMap(([name, on]) =>
    on ? ` --${name}` : [],
  );
  const faults = only.length === 0 ? '' : ` --only '${only.join()}'`;
  return `npm run drill -- failover --rounds ${rounds} --seed ${seed}${flags.join('')}${faults}`;
}
