import * as published from '@fal-ai/client';
import type { FalClient } from '@fal-ai/client';
import type { TestService } from './index.js';
import { readPage } from './page-examples.js';

/** Creates a client as docs/fal.md shows, with another address, key and fetch function. */
export function falAt(
  { url, key }: Pick<TestService, 'url' | 'key'>,
  credentials: string | (() => string) = key,
  fetch = globalThis.fetch,
): FalClient {
  const [, recipe] = /^```js\n(import .*?)^```$/ms.exec(readPage('docs/fal.md'))!;
  const program = recipe!
    .replace("import { createFalClient } from '@fal-ai/client';", '')
    .replace('http://127.0.0.1:3000', url)
    .replace('process.env.QUEUE_KEY', 'credentials');
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const make = new Function('createFalClient', 'credentials', 'fetch', `${program}; return fal;`) as (
    ...given: unknown[]
  ) => FalClient;
  return make(published.createFalClient, credentials, fetch);
}
