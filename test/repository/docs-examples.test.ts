import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { allSteps, parseDockerfile, stageOf } from '../../scripts/dockerfile.js';
import {
  blocksOf,
  commandsOf,
  fastPages,
  firstLine,
  isRun,
  notRun,
  pages,
  readPage,
  root,
} from '../support/page-examples.js';
import { testPages } from '../support/page-tests.js';

const { service } = (() => {
  const stage = testPages(fastPages, 25_000);
  return { service: () => stage.service };
})();

const statements = pages.flatMap(blocksOf).filter(({ language }) => language === 'sql');

test.each(statements)('PostgreSQL takes the statements of $name', async ({ code }) => {
  // The roles that pages name: the one that the service uses, and one that a page makes.
  const role = code.includes('ALTER ROLE nowserving') ? 'CREATE ROLE nowserving;' : '';
  await service().query(`BEGIN; ${role} ${code}; ROLLBACK`);
});

describe('the commands of all pages', () => {
  test('are found in every block', () => {
    const fences = pages.flatMap((page) => readPage(page).match(/^ *```/gm) ?? []);
    expect(pages.flatMap(blocksOf)).toHaveLength(fences.length / 2);
    expect(pages.flatMap(commandsOf).filter(isRun).length).toBeGreaterThan(50);
  });

  test('have the language sh', () => {
    const command = /^(npm|npx|node|curl|psql|docker|pip|python3?|sh|cp|[A-Z_]+=\S+) /m;
    const others = pages
      .flatMap(blocksOf)
      .filter(({ language, code }) => language === '' && command.test(code));
    expect(others.map(({ name }) => name)).toEqual([]);
  });

  test('include each listed exception exactly once', () => {
    const missing = notRun.filter(
      ({ page, first }) => commandsOf(page).filter(({ code }) => firstLine(code) === first).length !== 1,
    );
    expect(missing).toEqual([]);
  });

  test('set their variables on the same page', () => {
    const settings = [...readPage('README.md').matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
    );
    expect(pages.flatMap((page) => unsetVariables(page, settings))).toEqual([]);
  });

  test('call only existing npm scripts', () => {
    const scripts = new Set(Object.keys(packageScripts()));
    const unknown = pages.flatMap((page) =>
      [...readPage(page).matchAll(/\bnpm run (?:-s )?([\w:]+)/g)]
        .filter(([, script]) => !scripts.has(script!))
        .map(([call]) => `${page}: ${call}`),
    );
    expect(unknown).toEqual([]);
  });

  test('listen on different ports on each page', () => {
    const listening = /\.listen\((\d+)|--port (\d+)|\bPORT=(\d+)|(?:\belse|\?\?) (\d{4})\b/g;
    const servers = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' }).filter(
      (file) => /\.(py|mjs)$/.test(file),
    );
    const files = [...pages, ...servers.map((file) => join('examples', file))];
    const ports = files.flatMap((file) => [
      ...new Set([...readPage(file).matchAll(listening)].map(([, ...found]) => found.find(Boolean)!)),
    ]);
    expect(ports.length).toBeGreaterThan(3);
    expect(ports.filter((port, index) => ports.indexOf(port) !== index)).toEqual([]);
  });

  test('build the service as the Dockerfile does', () => {
    const packages = stageOf(parseDockerfile(readPage('Dockerfile')), 'packages')!;
    const commands = allSteps(packages)
      .filter(({ instruction }) => instruction === 'RUN')
      .map(({ rest }) => rest);
    const lines = commandsOf('docs/deploying.md').map(({ code }) => firstLine(code));
    expect(lines).toContain(commands.join(' && '));
  });
});

/** Returns the variables that commands of a page use before a line of the page sets them. */
function unsetVariables(page: string, settings: string[]): string[] {
  const set = new Set([...settings, 'HOME', 'PATH', 'PWD']);
  const missing = new Set<string>();
  // A program (`#!`) says itself what it takes.
  for (const { code } of commandsOf(page).filter(({ code }) => !code.startsWith('#!'))) {
    const text = code.replaceAll(/(^|\s)#.*$/gm, '').replaceAll(/'[^']*'/g, '');
    for (const line of text.split('\n')) {
      for (const [, name] of line.matchAll(/\$\{?([A-Z]\w*)(?!\w|:-)/g))
        if (!set.has(name!)) missing.add(name!);
      // `NAME=value command` sets it for the command only.
      const assignment = /\b([A-Z]\w*)=(\$\(.*\)|"[^"]*"|[^\s"]*)/g;
      if (line.replace('export ', '').replaceAll(assignment, '').trim() === '')
        for (const [, name] of line.matchAll(assignment)) set.add(name!);
    }
  }
  return [...missing].map((name) => `${page}: $${name}`);
}

function packageScripts(): Record<string, string> {
  const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> };
  return scripts;
}
