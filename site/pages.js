import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * The pages of the site, their order and their links. A page is a Markdown file of the repository: README.md is the
 * first, and its section Documentation lists the others. Each keeps the links that work on a Git host. `stage` copies
 * the pages to a folder in which the links fit the site.
 */

const root = fileURLToPath(new URL('..', import.meta.url));

/** The pages below these folders are not in README.md. The sidebar has them below the page on the right. */
const subpages = {
  'clients/': 'docs/clients.md',
  'docs/adr/': 'docs/adr/README.md',
  'docs/servers/': 'docs/model-servers.md',
  'examples/ocr/': 'examples/README.md',
  'formal/': 'docs/reliability.md',
};

const read = (file) => readFileSync(join(root, file), 'utf8');

/** Returns the groups of README.md's section Documentation, each with its pages and their subpages. */
export function groups() {
  const [, section] = /^## Documentation$([^]*)/m.exec(read('README.md'));
  return [...section.matchAll(/^- \*\*(.+)\*\*: (.*)$/gm)].map(([, title, text]) => ({
    title,
    pages: [...new Set(linksOf(text).map(({ path }) => path))]
      .filter((file) => file.endsWith('.md'))
      .map((file) => ({ ...pageOf(file), subpages: subpagesOf(file).map(pageOf) })),
  }));
}

/** Returns all pages in the order of the sidebar. */
export function pages() {
  const listed = groups().flatMap((group) => group.pages.flatMap((page) => [page, ...page.subpages]));
  return [pageOf('README.md'), ...listed];
}

/** `file`: in the repository; `path`: on the site, with .md in place of .html. */
function pageOf(file) {
  const [, title] = /^# (.*)$/m.exec(read(file));
  return { file, path: pathOf(file), title };
}

function pathOf(file) {
  if (file === 'README.md') return 'index.md';
  if (!file.includes('/')) return `project/${file.toLowerCase()}`;
  return file.replace(/^docs\//, '').replace(/README\.md$/, 'index.md');
}

function subpagesOf(file) {
  return Object.entries(subpages)
    .filter(([, parent]) => parent === file)
    .flatMap(([folder]) => markdownBelow(folder))
    .filter((page) => page !== file);
}

function markdownBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .sort();
}

/** Code, in which nothing is a link, or a link to a file of the repository, or a picture of HTML. */
const linkPattern =
  /^ *```[^]*?^ *```$|`[^`\n]*`|(?<=\]\()(?!\w+:)([^)#\s]*)(#[^)\s]+)?(?=\))|(?<=\bsrc(?:set)?=")([^":]+)(?=")/gm;

function linksOf(text) {
  return [...text.matchAll(linkPattern)]
    .filter(([, path, heading, picture]) => path || heading || picture)
    .map(([link, path, heading, picture]) => ({
      link,
      path: path || picture || '',
      heading: heading?.slice(1),
    }));
}

/** Returns the links of all pages that lead to no file, to no page, or to no heading of a page. */
export function brokenLinks() {
  const all = pages();
  const files = new Set(all.map(({ file }) => file));
  return all.flatMap(({ file }) =>
    linksOf(read(file))
      .filter(({ path, heading }) => {
        const target = path === '' ? file : normalize(join(dirname(file), path));
        if (!existsSync(join(root, target))) return true;
        if (!target.endsWith('.md')) return false;
        return !files.has(target) || (heading !== undefined && !headingsOf(target).includes(heading));
      })
      .map(({ link }) => `${file}: ${link}`),
  );
}

const withoutBlocks = (file) => read(file).replaceAll(/^ *```[^]*?^ *```$/gm, '');

function headingsOf(file) {
  return [...withoutBlocks(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading));
}

/** The anchor of a heading, as GitHub names it. */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/** Writes the pages, their pictures and the other files that they name to a folder, from which VitePress builds. */
export function stage(folder) {
  const broken = brokenLinks();
  if (broken.length > 0) throw new Error(`These links lead nowhere:\n${broken.join('\n')}`);
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(root, 'docs/pictures'), join(folder, 'pictures'), { recursive: true });
  const named = new Set();
  for (const { file, path } of pages()) write(join(folder, path), textFor(file, path, named));
  for (const file of named) addFile(folder, file);
}

/** Returns the text of a page with the links of the site. Adds the files that are no pages to `named`. */
function textFor(file, path, named) {
  return read(file).replaceAll(linkPattern, (link, to, heading = '', picture) => {
    if (!to && !picture) return link;
    const target = normalize(join(dirname(file), to ?? picture));
    if (target.endsWith('.md')) return `${linkTo(pathOf(target), path)}${heading}`;
    if (target.startsWith('docs/pictures/')) return linkTo(pathOf(target), path);
    named.add(target);
    return isFolder(target) ? linkTo(listOf(target), path) : sourceOf(target);
  });
}

/** A relative link begins with a point, as Vite asks for in pictures. */
function linkTo(target, from) {
  const link = relative(dirname(from), target);
  return link.startsWith('.') ? link : `./${link}`;
}

const isFolder = (file) => statSync(join(root, file)).isDirectory();
const listOf = (folder) => `files/${folder}.md`;
/** With .txt every web server sends it as text, and VitePress takes it for no page. */
const sourceOf = (file) => `/files/${file}.txt`;

/** A file becomes a text of the site, a folder a page with its files. */
function addFile(folder, file) {
  if (!isFolder(file)) {
    write(join(folder, 'public', sourceOf(file)), read(file));
    return;
  }
  const files = readdirSync(join(root, file), { recursive: true, encoding: 'utf8' })
    .map((name) => join(file, name))
    .filter((name) => !isFolder(name))
    .sort();
  for (const name of files) addFile(folder, name);
  const lines = files.map((name) => `- [${relative(file, name)}](${sourceOf(name)})`);
  write(join(folder, listOf(file)), `# ${file}\n\n${lines.join('\n')}\n`);
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Returns llms.txt (https://llmstxt.org): what the service is, and each page with its first sentence. */
export function overview() {
  const lineOf = ({ file, path, title }) => `- [${title}](${path}): ${firstSentence(file)}`;
  const sections = groups().map(({ title, pages: listed }) => {
    const lines = listed.flatMap((page) => [page, ...page.subpages]).map(lineOf);
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  return `# Now Serving\n\n> ${firstSentence('README.md')}\n\n${lineOf(pageOf('README.md'))}\n\n${sections.join('\n')}`;
}

function firstSentence(file) {
  const paragraph = withoutBlocks(file)
    .split('\n\n')
    .slice(1)
    .find((text) => /^[*\w`"]/.test(text));
  const text = paragraph.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
  return (/^.*?\.(?= |$)/.exec(text)?.[0] ?? text).replaceAll('**', '');
}

/**
 * Writes what programs read beside the pages: llms.txt, llms-full.txt with all pages in one, and each page as Markdown.
 */
export function writeForPrograms(staged, folder) {
  const all = pages().map(({ path }) => ({ path, text: readFileSync(join(staged, path), 'utf8') }));
  for (const { path, text } of all) write(join(folder, path), text);
  write(join(folder, 'llms.txt'), overview());
  write(join(folder, 'llms-full.txt'), all.map(({ path, text }) => `<!-- ${path} -->\n\n${text}`).join('\n'));
}
