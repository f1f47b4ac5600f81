import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const parts = [
  'src',
  'migrations',
  'assets',
  'clients',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const emittedWithErrors = 2;

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, maxBuffer: 256 * 1024 * 1024, ...options });
  if (result.error !== undefined) throw result.error;
  return result;
}

/** Returns whether the clone has this commit. */
export const hasCommit = (commit) => run('git', ['cat-file', '-e', `${commit}^{commit}`]).status === 0;

const git = (...args) => run('git', args).stdout.toString().trim();

/** A built commit of the repository, with the packages of this clone. */
export class Release {
  /** `folder`: where its files are put. */
  constructor(name, commit, folder) {
    this.name = name;
    this.commit = git('rev-parse', '--short=10', commit);
    this.tree = git('rev-parse', `${commit}:src`);
    this.folder = folder;
  }

  /** The client library for TypeScript, as an ES module. */
  get client() {
    return join(this.folder, 'clients/typescript/dist/esm/index.js');
  }

  get python() {
    return join(this.folder, 'clients/python');
  }

  build() {
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder);
    const archive = run('git', ['archive', this.commit, ...parts]);
    if (archive.status !== 0) throw new Error(`git archive of ${this.commit}: ${archive.stderr.toString()}`);
    run('tar', ['-x', '-C', this.folder], { input: archive.stdout });
    this.refuseOtherPackages();
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
    this.compile('tsconfig.build.json');
    this.compile('clients/typescript/tsconfig.json');
  }

  /** The types were checked when the commit was made. */
  compile(project) {
    const { status, stdout } = run(process.execPath, [tsc, '-p', project, '--noCheck'], { cwd: this.folder });
    if (status !== 0 && status !== emittedWithErrors)
      throw new Error(`${project} of ${this.commit} could not be built:\n${stdout.toString()}`);
  }

  /** The packages of this clone stand in for those of the commit, so the commit must accept them. */
  refuseOtherPackages() {
    const packages = (commit) => JSON.parse(git('show', `${commit}:package.json`)).dependencies;
    const [own, here] = [packages(this.commit), packages('HEAD')];
    const others = Object.keys(own).filter((name) => own[name] !== here[name]);
    if (others.length > 0)
      throw new Error(
        `${this.commit} has other packages than this clone (${others.join(', ')}). Name a later commit: --from COMMIT`,
      );
  }
}

/** Names the files of a release that differ from the commit of this clone. */
export const changedFiles = () => git('status', '--porcelain', '--', ...parts);
