import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import type { CancelUse } from './checks/check-cancels.js';
import type { Peak } from './checks/check-concurrency.js';
import type { LimitUse } from './checks/check-limits.js';
import type { ShareUse } from './checks/check-shares.js';
import type { FaultRow } from './fault-table.js';
import type { BurstRecord } from './load/bursts.js';
import type { Violation } from './load/ledger.js';
import type { Options } from './options.js';

/** The repository, seen from `dist/chaos`. */
export const root = fileURLToPath(new URL('../..', import.meta.url));
const directory = join(root, 'chaos/results');

/** What ran. */
export interface Sources {
  /** The commit, with a `+` if files differed from it. */
  commit: string;
  /** The tree of the files of `src`. Each commit with this tree (`git rev-parse <commit>:src`) is the same service. */
  sourceTree: string;
}

/** One run, as its file has it. */
export interface Result extends Omit<Sources, 'sourceTree'> {
  date: string;
  /** The first results lack both. */
  sourceTree?: string;
  node?: string;
  /** Results from before there were scenes lack `scene`. */
  options: Omit<Options, 'runs' | 'release' | 'keep' | 'table' | 'scene'> & { scene?: string };
  requests: number;
  /** Calls of models. */
  runs: number;
  /** Missing in results from before there were workers. */
  runsOfWorkers?: number;
  faults: number;
  faultsOfWorkers?: number;
  worstCallMs: number;
  /** Time from the last heal until all positions were exact, one value per minute. */
  positionsExactAfterMs: number[];
  servedAfterRevocationMs: number;
  bursts: BurstRecord[];
  limits: LimitUse[];
  shares: ShareUse[];
  cancels: CancelUse;
  /** Times in which the machine was overloaded; nothing is judged by time in them. */
  slowMoments: number;
  /** Excused answers in slow moments: late ones, and 503 without a fault. */
  lateInSlowMoments: number;
  peaks: Peak[];
  faultRows: FaultRow[];
  counts: Record<string, number>;
  violations: Violation[];
}

/**
 * Returns what this process runs. Call it before the first run: runs take hours, and the repository may have other
 * commits by then.
 */
export function sourcesHere(clone = root): Sources {
  const git = (args: string[], env = {}): string =>
    execFileSync('git', args, { cwd: clone, encoding: 'utf8', env: { ...process.env, ...env } }).trim();
  try {
    const changed = git(['status', '--porcelain', '--', '.', ':!chaos/results', ':!drill/results']) !== '';
    return {
      commit: git(['rev-parse', '--short=10', 'HEAD']) + (changed ? '+' : ''),
      sourceTree: treeOfFiles('src', git),
    };
  } catch {
    return { commit: 'unknown', sourceTree: 'unknown' };
  }
}

/** Returns the tree of a folder as its files are, whether or not they are committed. */
function treeOfFiles(folder: string, git: (args: string[], env: object) => string): string {
  const temporary = mkdtempSync(join(tmpdir(), 'nowserving-tree-'));
  try {
    const index = { GIT_INDEX_FILE: join(temporary, 'index') };
    git(['add', '--', folder], index);
    return git(['write-tree', `--prefix=${folder}/`], index);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Returns the name of the file. */
export async function writeResult(result: Result): Promise<string> {
  const { seed, scene = '' } = result.options;
  return writeRun('chaos/results', result.date, scene === '' ? `${seed}` : `${seed}-${scene}`, result);
}

/**
 * Writes the result of one run below the repository and returns the name of the file. What processes said has paths in
 * it, which are written as seen from the repository.
 */
export async function writeRun(
  folder: string,
  date: string,
  suffix: string,
  result: object,
): Promise<string> {
  mkdirSync(join(root, folder), { recursive: true });
  const name = `${folder}/${date.slice(0, 19).replaceAll(':', '')}-${suffix}.json`;
  const rounded = JSON.stringify(result, (_, value: unknown) =>
    typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : withoutRoot(value),
  );
  writeFileSync(join(root, name), await format(rounded, { parser: 'json', printWidth: 110 }));
  return name;
}

const withoutRoot = (value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(root, '') : value;

export function readResults(): Result[] {
  mkdirSync(directory, { recursive: true });
  return readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as Result);
}
