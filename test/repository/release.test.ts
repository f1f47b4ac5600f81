import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourcesHere } from '../../chaos/results.js';
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
