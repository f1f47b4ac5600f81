import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application, Request } from 'express';
import { ClientAddress } from '../client-address.js';
import { ApiDocument, stableDocumentPath } from './api-document.js';
import { basePlaceholder, DocumentTemplate } from './document-template.js';
import { docsPage } from './docs-page.js';
import { errorReference } from './error-reference.js';
import { onceFor } from './once-for.js';
import { docsAssets } from './package-root.js';
import { type ShownModel, servedDocument } from './served-document.js';

const assets = fileURLToPath(docsAssets);
const require = createRequire(import.meta.url);
const swaggerUi = dirname(require.resolve('swagger-ui-dist/package.json'));

const files: readonly [directory: string, name: string][] = [
  [assets, 'page.css'],
  [assets, 'theme.css'],
  [assets, 'page.js'],
  [swaggerUi, 'swagger-ui.css'],
  [swaggerUi, 'swagger-ui-bundle.js'],
];

/** Serves /docs, /docs/errors and /openapi.json, all from this machine. */
export function serveDocs(app: NestExpressApplication, models: () => readonly ShownModel[]): void {
  const express: Application = app.getHttpAdapter().getInstance();
  const addresses = app.get(ClientAddress);
  const api = app.get(ApiDocument);
  for (const [path, page] of [
    ['/docs', docsPage],
    ['/docs/errors', errorReference],
  ] as const) {
    express.get(path, (request, response) => {
      response.type('text/html').send(page(wayToRoot(request)));
    });
  }
  for (const [root, name] of files) {
    express.get(`/docs/${name}`, (_request, response) => {
      response.setHeader('Cache-Control', 'no-cache'); // clients may cache it, but must revalidate it each time
      response.sendFile(name, { root });
    });
  }
  const templateOf = onceFor(models, async (shown) => {
    const document = api.get();
    // Each step takes long for one turn of the event loop, so others are served between them.
    await nextTurn();
    const served = servedDocument(document, basePlaceholder, shown);
    await nextTurn();
    return new DocumentTemplate(JSON.stringify(served));
  });
  api.makeAhead = templateOf;
  let stable: DocumentTemplate | undefined;
  express.get(stableDocumentPath, async (request, response) => {
    stable ??= new DocumentTemplate(JSON.stringify(servedDocument(api.get(), basePlaceholder, [])));
    await stable.send(request, response, addresses.baseUrl(request));
  });
  express.get('/openapi.json', async (request, response) => {
    const template = await templateOf();
    await template.send(request, response, addresses.baseUrl(request));
  });
}

/** Relative, because a proxy may serve us under a path of its own: '' for /docs, '../' for /docs/ and /docs/errors. */
function wayToRoot({ path }: Request): string {
  return '../'.repeat(path.split('/').length - 2);
}
