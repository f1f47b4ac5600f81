import { parseArgs } from 'node:util';
import { scenes } from './scenes.js';

/** Runs of a release with the faults of every run and without PgBouncer. */
const seedsOfRelease = 5;

export interface Options {
  /** How long faults are made. Starting, draining and checking come on top. */
  seconds: number;
  seed: number;
  processes: number;
  /** PgBouncer in transaction mode between the nodes and the database. */
  pgbouncer: boolean;
  /** The name of a scene, whose conditions and faults take the place of those of every run; empty: none. */
  scene: string;
  /** All runs that a release needs: five seeds, one with PgBouncer, and all scenes. */
  release: boolean;
  /** This many runs, one after the other, each with the next seed. */
  runs: number;
  /** Only these kinds of faults; empty: all. */
  only: string[];
  /** Keeps the directory with the logs and tables, as a run with a violation always does. */
  keep: boolean;
  /** Does not run anything, but writes the tables in docs/chaos.md from the results. */
  table: boolean;
}

export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string' },
      seed: { type: 'string', default: today() },
      processes: { type: 'string', default: '3' },
      pgbouncer: { type: 'boolean', default: false },
      scene: { type: 'string', default: '' },
      release: { type: 'boolean', default: false },
      runs: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      keep: { type: 'boolean', default: false },
      table: { type: 'boolean', default: false },
    },
  });
  if (values.release && values.scene !== '') throw new Error('--release and --scene exclude each other');
  if (values.scene !== '' && !Object.hasOwn(scenes, values.scene))
    throw new Error(`--scene takes ${Object.keys(scenes).join(', ')}`);
  return {
    seconds: wholeNumber('--seconds', values.seconds ?? (values.release ? '600' : '60'), 5, 86_400),
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 31),
    processes: wholeNumber('--processes', values.processes, 2, 20),
    pgbouncer: values.pgbouncer,
    scene: values.scene,
    release: values.release,
    runs: wholeNumber('--runs', values.runs, 1, 1_000),
    only: values.only.split(',').filter((kind) => kind !== ''),
    keep: values.keep,
    table: values.table,
  };
}

/** The runs that the options ask for, in order. */
export function runsOf(options: Options): Options[] {
  const { seed, runs, release, seconds } = options;
  const count = release ? seedsOfRelease : runs;
  const ofSeeds = Array.from({ length: count }, (_, i) => ({ ...options, seed: seed + i }));
  if (!release) return ofSeeds;
  const ofScenes = Object.keys(scenes).map((scene) => ({
    ...options,
    scene,
    seconds: scene === 'day' ? 2 * seconds : seconds,
  }));
  return [...ofSeeds, { ...options, pgbouncer: true }, ...ofScenes];
}

/** The command that repeats a run. */
export function commandFor({ seconds, seed, processes, pgbouncer, scene, only }: Options): string {
  const more = `${scene === '' ? '' : ` --scene ${scene}`}${pgbouncer ? ' --pgbouncer' : ''}${only.length === 0 ? '' : ` --only '${only.join()}'`}`;
  return `npm run chaos -- --seconds ${seconds} --seed ${seed} --processes ${processes}${more}`;
}

/** A date as a number, such as 20300131: another order of faults every day, the same for everybody who runs it. */
export function today(): string {
  return new Date().toISOString().slice(0, 10).replaceAll('-', '');
}

export function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new Error(`${name} takes a whole number from ${least} to ${most}`);
  }
  return value;
}
