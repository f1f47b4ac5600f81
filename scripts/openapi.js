import { readFileSync, writeFileSync } from 'node:fs';
import { buildIfStale } from './build.js';

/** Writes openapi.json from the code; with `--check` only says whether the committed one is still right. */
const file = new URL('../openapi.json', import.meta.url);

buildIfStale();
const { NestFactory } = await import('@nestjs/core');
const { AppModule } = await import('../dist/src/app.module.js');
const { Config } = await import('../dist/src/config/config.js');
const { buildOpenApi } = await import('../dist/src/http/openapi/build-openapi.js');

// A preview reads the routes and makes no instances: neither a database nor a port is needed.
const app = await NestFactory.create(AppModule.register(new Config(), 'postgresql://localhost/none', []), {
  preview: true,
  logger: false,
  abortOnError: false,
});
const generated = `${JSON.stringify(buildOpenApi(app), null, 2)}\n`;
await app.close();

if (!process.argv.includes('--check')) {
  writeFileSync(file, generated);
} else if (readFileSync(file, 'utf8') !== generated) {
  console.error('openapi.json is not what the code generates. Run: npm run openapi');
  process.exitCode = 1;
}
