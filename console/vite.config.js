import { defineConfig } from 'vite';

// Tests build too, and would get React's slow half.
process.env.NODE_ENV = 'production';

/** Every address in what is built is relative, so that it works below any path of a proxy. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  publicDir: false,
  logLevel: 'error', // packages' directives for other builds are no news
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // the policy of the page allows no style or script from a data URL
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: 'licenses.json' }, // for scripts/notices.js
  },
});
