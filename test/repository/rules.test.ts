import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Lock {
  packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>;
}

describe('the lock file', () => {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as Lock;

  it('names no registry', () => {
    expect(text).not.toMatch(/"resolved": "(?!clients\/)|https?:\/\/registry\./);
  });

  it('contains the binaries of every platform for npm ci', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !isLocked(packages, path, name))
        .map((name) => `${name} of ${path}`),
    );
    expect(missing).toEqual([]);
  });
});

/** The client's files, without generated ones. */
const clientFiles = files(join('clients', 'typescript', 'src'), '.ts').filter(
  (file) => !file.endsWith('wire.ts'),
);

describe('the source', () => {
  it('reads the environment in src/config only', () => {
    const readers = files('src', '.ts').filter((file) => contents(file).includes('process.env'));
    expect(readers.filter((file) => !file.startsWith(join('src', 'config')))).toEqual([]);
  });

  it('makes HTTP calls in src/outgoing only', () => {
    const calls = /node:https'|\bhttp\.(?:request|get|Agent)\(|(?<![.\w])fetch\(/;
    const callers = files('src', '.ts').filter((file) => calls.test(contents(file)));
    const outside = callers.filter((file) => !file.startsWith(join('src', 'outgoing')));
    expect(outside.filter((file) => !file.endsWith('.spec.ts'))).toEqual([]);
  });

  it('suppresses no compiler, linter or formatter', () => {
    const silencers = /@ts-(ignore|nocheck|expect-error)|(eslint|oxlint)-disable|prettier-ignore/;
    const folders = [...files('src', '.ts'), ...files('migrations', '.ts'), ...files('scripts', '.js')];
    const silenced = [...folders, ...clientFiles];
    expect(silenced.filter((file) => silencers.test(contents(file)))).toEqual([]);
  });

  it('throws HTTP exceptions only in src/http, src/auth, src/limits and src/health', () => {
    const below = files('src', '.ts').filter((file) => !/src.(http|auth|limits|health)/.test(file));
    expect(below.filter((file) => /new \w*HttpException|new \w+Exception\(/.test(contents(file)))).toEqual(
      [],
    );
  });
});

describe('comments', () => {
  it('contain none of the known fragments of the house dialect', () => {
    const fragment =
      /(?:\/\*\*?|^\s*\*|\/\/) (?:Of (?!course)|So many |So much |Whoever |Whether )|it is a look/m;
    const sources = [
      ...['src', 'migrations', 'test', 'chaos', 'console/src', 'clients/typescript'].flatMap((folder) =>
        files(folder, '.ts'),
      ),
      ...files('console/src', '.tsx'),
      ...['bench', 'chaos', 'formal', 'scripts', 'test', 'upgrade'].flatMap((folder) => files(folder, '.js')),
    ].filter((file) => !file.includes('node_modules') && !file.endsWith('rules.test.ts'));
    expect(sources.length).toBeGreaterThan(900);
    expect(sources.filter((file) => fragment.test(contents(file)))).toEqual([]);
  });
});

describe('the tests', () => {
  it('contain no skip, no only and no sleep', () => {
    const tests = [...files('test', '.test.ts'), ...files('src', '.spec.ts')].filter(
      (file) => !file.endsWith(join('repository', 'rules.test.ts')),
    );
    const lazy =
      /\b(it|test|describe)\.(skip|only|todo|failing)\b|\bx(it|describe)\(|setTimeout\(\w+, \d+\)\)/;
    expect(tests.filter((file) => lazy.test(contents(file)))).toEqual([]);
  });
});

describe('README.md', () => {
  it('has the figures of docs/performance.md', () => {
    const figures = contents('README.md').match(/[\d,]+ \w+ a second/g) ?? [];
    expect(figures.length).toBeGreaterThan(0);
    const measured = contents(join('docs', 'performance.md'));
    expect(figures.filter((figure) => !measured.includes(`**${figure}**`))).toEqual([]);
  });
});

describe('docs/pictures', () => {
  const names = readdirSync(join(root, 'docs', 'pictures')).map((file) => file.replace(/\.png$/, ''));

  it('has the pictures that npm run pictures takes', () => {
    const taken = contents(join('scripts', 'pictures.js')).matchAll(/\btake\('([\w-]+)'/g);
    expect(new Set(names)).toEqual(new Set([...taken].map(([, name]) => name)));
  });

  it('contains only pictures that a page shows', () => {
    const pages = ['README.md', ...files('docs', '.md')].map((page) => contents(page)).join('\n');
    expect(names.filter((name) => !pages.includes(`pictures/${name}.png`))).toEqual([]);
  });
});

describe('docs/reliability.md', () => {
  it('names only existing tests', () => {
    const text = contents(join('docs', 'reliability.md'));
    const promises = text.slice(text.indexOf('## Promises'), text.indexOf('\n## The state machine'));
    const named = [...promises.matchAll(/`((?:\w[\w-]*\/)+[\w.-]+)`((?:(?:: |, )"[^"]+")*)/g)];
    expect(named.length).toBeGreaterThan(50);
    const missing = named.flatMap(([, name, quotes]) => {
      const file = name!.startsWith('src/') ? name! : `test/${name!}.test.ts`;
      const source = existsSync(join(root, file)) ? contents(file) : undefined;
      if (source === undefined) return [file];
      // A quote replaces omitted words by an ellipsis.
      const parts = [...quotes!.matchAll(/"([^"]+)"/g)].flatMap(([, quoted]) => quoted!.split(/ ?… ?/));
      return parts.filter((part) => !source.includes(part)).map((part) => `${file}: ${part}`);
    });
    expect(missing).toEqual([]);
  });
});

function isLocked(packages: Lock['packages'], from: string, name: string): boolean {
  for (let path = from; ; path = path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/')))) {
    if (`${path === '' ? '' : `${path}/`}node_modules/${name}` in packages) return true;
    if (path === '') return false;
  }
}

function files(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending) && !file.split(sep).includes('node_modules'))
    .map((file) => join(folder, file));
}

function contents(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
