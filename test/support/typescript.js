import { register } from 'node:module';

/** `node --import` this file to run TypeScript. */
register('./typescript-loader.js', import.meta.url);
