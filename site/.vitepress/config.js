import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { anchorOf, groups, stage, writeForPrograms } from '../pages.js';

const staged = fileURLToPath(new URL('../.staged/', import.meta.url));
const { version, description } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
stage(staged);

const entry = ({ title, path }) => ({ text: title, link: `/${path}` });
const sections = groups();

/** `SITE_BASE=/queue/` builds for a path of a host. */
export default {
  title: 'Now Serving',
  description,
  lang: 'en',
  base: process.env.SITE_BASE ?? '/',
  srcDir: '.staged',
  outDir: 'dist',
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    anchor: { slugify: anchorOf },
    // Braces are text of the pages.
    attrs: { disable: true },
    config(md) {
      drawDiagrams(md);
      keepBraces(md);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      ...sections.map(({ title, pages }) => ({ text: title, items: pages.map(entry) })),
      { text: version, link: '/project/changelog.md' },
    ],
    sidebar: [
      { text: 'Now Serving', link: '/index.md' },
      ...sections.map(({ title, pages }) => ({
        text: title,
        collapsed: false,
        items: pages.map((page) => ({
          ...entry(page),
          ...(page.subpages.length > 0 && { collapsed: true, items: page.subpages.map(entry) }),
        })),
      })),
    ],
    footer: { message: 'Apache-2.0' },
  },
  buildEnd({ outDir }) {
    writeForPrograms(staged, outDir);
  },
};

/** Two braces in a text are no expression of Vue. */
function keepBraces(md) {
  for (const name of ['text', 'code_inline']) {
    const rule = md.renderer.rules[name];
    md.renderer.rules[name] = (...args) => rule(...args).replaceAll('{{', '&#123;&#123;');
  }
}

/** The blocks of Mermaid become pictures in the browser. */
function drawDiagrams(md) {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest);
    return `<Diagram code="${encodeURIComponent(content)}" />`;
  };
}
