import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledPackages, lockedPackages } from './packages.js';

/**
 * Writes dist/THIRD-PARTY-NOTICES.md: the licences of the packages that the service runs with, and of those whose code
 * is in the built console. It is a part of `npm run build`, after the console. The first argument names another file.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const target = process.argv[2] ?? join(root, 'dist/THIRD-PARTY-NOTICES.md');
const packages = new Map();
for (const one of [...installed(), ...bundled()]) packages.set(`${one.name} ${one.version}`, one);
const sorted = [...packages.values()].sort((one, other) => compare(one.name, other.name));
writeFileSync(target, `${heading()}\n${sorted.map(sectionOf).join('\n')}`);

function heading() {
  return `# Third-party notices

Now Serving contains or runs with these ${sorted.length} packages. Its own licence is in LICENSE.

The package of the embedded PostgreSQL, where it is installed, also has the programs of PostgreSQL (PostgreSQL License)
and libraries of theirs: ICU, libxml2, libxslt, OpenSSL, OSSP uuid, XZ Utils and zlib, each under its own licence.
`;
}

/** The packages that `npm ci --omit=dev` installs here. Binaries of other platforms are not there. */
function installed() {
  return lockedPackages()
    .filter(({ path, isDevelopment }) => !isDevelopment && existsSync(join(root, path)))
    .map(({ path, version }) => {
      const { name, license, licenses, author } = manifestOf(path);
      const identifier = license ?? licenses?.map(({ type }) => type).join(' OR ');
      return { name, version, identifier, author: author?.name ?? author, texts: textsIn(path) };
    });
}

function bundled() {
  return bundledPackages().map(({ name, version, identifier, text }) => ({
    name,
    version,
    identifier,
    texts: text ? [text] : [],
  }));
}

function manifestOf(path) {
  return JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
}

function textsIn(path) {
  const isLicence = /(^|\.)(licen[sc]e|copying|notice)\b.*(?<!\.[cm]?[jt]s)$/i;
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isFile() && isLicence.test(entry.name))
    .map(({ name }) => readFileSync(join(root, path, name), 'utf8'));
}

function sectionOf({ name, version, identifier = 'licence not named', author, texts }) {
  const by = author === undefined ? '' : ` ${author.replace(/\s*<.*/, '')}`;
  const absent = `The package has no text of its licence.${by && ` Its author is${by}.`}`;
  const all = texts.length > 0 ? texts.map((text) => `${fenced(text.trim())}\n`).join('\n') : `${absent}\n`;
  return `## ${name} ${version}\n\n${identifier}\n\n${all}`;
}

/** A text may have a fence itself. */
function fenced(text) {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}text\n${text}\n${fence}`;
}

function compare(one, other) {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
