import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { released } from './release-changelog.js';
import { page, readList, runsOf, unexplained, withList } from './release-runs.js';

/**
 * `npm run release -- changelog` moves the entries under Unreleased into the section of the version, with today's date.
 * `npm run release -- runs` writes the runs of these sources into docs/reliability.md.
 * `npm run release -- check` names what is missing before this commit can be tagged, with exit code 1.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const tree = git('rev-parse', 'HEAD:src');
const [command] = process.argv.slice(2);

const changelog = fileURLToPath(new URL('../CHANGELOG.md', import.meta.url));
if (command === 'changelog') {
  for (const line of missingInVersion()) throw new Error(line);
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(changelog, released(readFileSync(changelog, 'utf8'), version, today));
} else if (command === 'runs') {
  writeFileSync(page, await format(withList(tree), { parser: 'markdown', printWidth: 110 }));
} else if (command === 'check') {
  const missing = [...missingInChangelog(), ...missingInVersion(), ...missingInGit(), ...missingRuns()];
  for (const line of missing) console.log(`missing: ${line}`);
  if (missing.length === 0)
    console.log(`Nothing is missing. Run .ci/run, then: git tag --annotate v${version}`);
  else process.exitCode = 1;
} else {
  console.error('npm run release -- changelog | runs | check');
  process.exitCode = 1;
}

function missingInChangelog() {
  const text = readFileSync(changelog, 'utf8');
  const [, unreleased, ...sections] = text.split(/^## /m);
  return [
    unreleased.trim() !== 'Unreleased' &&
      `CHANGELOG.md has entries under Unreleased; npm run release -- changelog moves them`,
    !sections[0]?.startsWith(`${version} - `) && `CHANGELOG.md has no section "## ${version} - <day>"`,
  ].filter(Boolean);
}

function missingInVersion() {
  const isTagged = git('tag', '--list', `v${version}`) !== '';
  return isTagged ? [`v${version} is a tag already; a release needs a new version`] : [];
}

function missingInGit() {
  return git('status', '--porcelain') === '' ? [] : ['some files are not committed'];
}

function missingRuns() {
  const isOld = readList().tree !== tree;
  return [
    ...(isOld ? ['docs/reliability.md names other sources; npm run release -- runs'] : []),
    ...runsOf(tree)
      .filter(({ amount, needed }) => amount < needed)
      .map(
        ({ name, command: again, amount, needed }) =>
          `${name}: ${amount} of ${needed} on the sources of this commit; ${again.trim()}`,
      ),
    ...unexplained(tree).map((file) => `docs/reliability.md does not say why ${file} failed`),
  ];
}
