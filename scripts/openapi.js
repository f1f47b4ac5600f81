import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { buildIfStale } from './build.js';

/**
 * Writes openapi.json from the code, and the types of the TypeScript client from that; with `--check` only says whether
 * the committed ones are still right.
 */
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
const text = `${JSON.stringify(buildOpenApi(app), null, 2)}\n`;
await app.close();

// The client needs the shapes alone; with every operation its package would be five times as large.
const { openapi, info, components } = JSON.parse(text);
const shapes = await openapiTS({ openapi, info, paths: {}, components: { schemas: components.schemas } });
const files = {
  'openapi.json': text,
  'clients/typescript/src/wire.ts': `/** From openapi.json: npm run openapi. */\n\n${astToString(shapes)}`,
};
for (const [name, generated] of Object.entries(files)) {
  const file = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    writeFileSync(file, generated);
  } else if (readFileSync(file, 'utf8') !== generated) {
    console.error(`${name} is not what the code generates. Run: npm run openapi`);
    process.exitCode = 1;
  }
}
