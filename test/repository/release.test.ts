import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { sourcesHere } from '../../chaos/results.js';
import { released } from '../../scripts/release-changelog.js';
import { page, readList, runsOf, unexplained, withList } from '../../scripts/release-runs.js';
import { temporaryDirectory } from '../support/data-directory.js';

test('a run names the tree of the sources that it ran, also before they are committed', async () => {
  const clone = await temporaryDirectory();
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const git = (...args: string[]): string =>
    execFileSync('git', [...author, ...args], { cwd: clone, encoding: 'utf8' }).trim();
  git('init', '--quiet');
  mkdirSync(join(clone, 'src/room'), { recursive: true });
  writeFileSync(join(clone, 'src/room/file.ts'), 'export {};\n');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Begin');
  const first = sourcesHere(clone);
  expect(first).toEqual({
    commit: git('rev-parse', '--short=10', 'HEAD'),
    sourceTree: git('rev-parse', 'HEAD:src'),
  });

  writeFileSync(join(clone, 'src/room/file.ts'), 'export const changed = true;\n');
  const changed = sourcesHere(clone);
  expect(changed.commit).toBe(`${first.commit}+`);
  expect(changed.sourceTree).not.toBe(first.sourceTree);
  git('commit', '--quiet', '--all', '--message', 'Change');
  expect(git('rev-parse', 'HEAD:src')).toBe(changed.sourceTree);
});

describe('the runs of the release in docs/reliability.md', () => {
  const { tree } = readList();

  it('match the recorded runs (npm run release -- runs writes them)', async () => {
    const written = await format(withList(tree!), { parser: 'markdown', printWidth: 110 });
    expect(readFileSync(page, 'utf8')).toBe(written);
  });

  it('have a cause where one failed', () => {
    expect(unexplained(tree!)).toEqual([]);
  });

  it('count only with the sources of the release', () => {
    const others = runsOf('0'.repeat(40));
    expect(others.map(({ amount, results }) => [amount, results])).toEqual(others.map(() => [0, []]));
    const drill = others.find(({ name }) => name.includes('synchronous'))!;
    const ofItsSources = runsOf(drill.latest!.tree!).find(({ name }) => name === drill.name)!;
    expect(ofItsSources.amount).toBeGreaterThan(0);
    expect(ofItsSources.results.map(({ file }) => file)).toContain(drill.latest!.file);
  });
});

describe('the changelog of a release', () => {
  const first = '# Changelog\n\n## Unreleased\n\n### Added\n\n- b\n\n### Fixed\n\n- c\n\n';

  it('contains the unreleased entries in the parts of its section', () => {
    const section = '## 1.0.0 - 2030-01-01\n\nThe first.\n\n### Added\n\n- a\n';
    expect(released(`${first}${section}`, '1.0.0', '2030-02-01')).toBe(
      '# Changelog\n\n## Unreleased\n\n## 1.0.0 - 2030-02-01\n\nThe first.\n\n### Added\n\n- a\n- b\n\n### Fixed\n\n- c\n',
    );
  });

  it('keeps the paragraphs before the first part', () => {
    const noted = first.replace(
      '## Unreleased\n\n',
      '## Unreleased\n\nUpgrade nodes of role `api` first.\n\n',
    );
    const section = '## 1.0.0 - 2030-01-01\n\nThe first.\n\n### Added\n\n- a\n';
    expect(released(`${noted}${section}`, '1.0.0', '2030-02-01')).toContain(
      '## 1.0.0 - 2030-02-01\n\nThe first.\n\nUpgrade nodes of role `api` first.\n\n### Added\n\n- a\n- b\n',
    );
    expect(released(`${noted}${section}`, '1.1.0', '2030-02-01')).toContain(
      '## 1.1.0 - 2030-02-01\n\nUpgrade nodes of role `api` first.\n\n### Added\n\n- b\n',
    );
  });

  it('gets a section if the version has none', () => {
    const older = '## 1.0.0 - 2030-01-01\n\n### Added\n\n- a\n';
    const [begin, entries] = first.split('## Unreleased\n\n');
    expect(released(`${first}${older}`, '1.1.0', '2030-02-01')).toBe(
      `${begin}## Unreleased\n\n## 1.1.0 - 2030-02-01\n\n${entries}${older}`,
    );
  });
});
