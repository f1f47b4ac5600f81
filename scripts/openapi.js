import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { buildIfStale } from './build.js';

/**
 * Writes openapi.json from the code, and the types of the TypeScript client from openapi.json. With `--check` it only
 * reports whether the committed files are up to date.
 */
buildIfStale();
const { NestFactory } = await import('@nestjs/core');
const { AppModule } = await import('../dist/src/app.module.js');
const { Config } = await import('../dist/src/config/config.js');
const { DatabaseSessions } = await import('../dist/src/database/sessions.js');
const { buildOpenApi } = await import('../dist/src/http/openapi/build-openapi.js');
const { resolved } = await import('../dist/src/http/openapi/shared-parts.js');

// A preview reads the routes and creates no instances, so neither a database nor a port is needed.
const sessions = new DatabaseSessions('postgresql://localhost/none');
const module = AppModule.register(new Config(), { pooled: sessions, direct: sessions }, []);
const app = await NestFactory.create(module, { preview: true, logger: false, abortOnError: false });
const indented = JSON.stringify(buildOpenApi(app), null, 2);
// A reference stands on one line instead of three.
const text = `${indented.replaceAll(/\{\s+("\$ref": "[^"]+")\s+\}/g, '{ $1 }')}\n`;
await app.close();

const { openapi, info, paths, components } = JSON.parse(text);
const typesOf = async (routes) => {
  const types = await openapiTS(
    { openapi, info, paths: routes, components: { schemas: components.schemas } },
    { defaultNonNullable: false },
  );
  return `/** From openapi.json: npm run openapi. */\n\n${astToString(types)}`;
};
const files = {
  'openapi.json': text,
  // The client needs only the schemas; with every operation its package would be five times as large.
  'clients/typescript/src/wire.ts': await typesOf({}),
  'console/src/api/wire.ts': await typesOf(consolePaths()),
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

/** The paths that the console calls: the request of each operation, and its successful response. */
function consolePaths() {
  const called = /^\/v1\/(admin\/|models\/\{model_id\}$|queue\/\{model_id\}$)/;
  return Object.fromEntries(
    Object.entries(paths)
      .filter(([path]) => called.test(path))
      .map(([path, item]) => [
        path,
        Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, success(operation)])),
      ]),
  );
}

function success({ parameters = [], requestBody, responses }) {
  return {
    parameters: parameters.map((part) => resolved({ components }, part)).filter((one) => one.in !== 'header'),
    ...(requestBody && { requestBody }),
    responses: Object.fromEntries(
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .map(([status, answer]) => {
          const { description, content } = resolved({ components }, answer);
          return [status, { description, ...(content && { content }) }];
        }),
    ),
  };
}
