import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../../src/config/package.js';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** All pages of the documentation. */
export const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['docs', 'clients', 'examples', 'deploy'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
      .sort()
      .map((file) => join(folder, file)),
  ),
];

/** A fenced block of a page. */
export interface Block {
  page: string;
  /** For the names of tests: the page and the first line. */
  name: string;
  /** The language after the opening fence, or an empty string. */
  language: string;
  /** True if the language is followed by `start`: the commands run until somebody stops them. */
  isStarted: boolean;
  code: string;
  /** The last line of text before the block. */
  before: string;
  /** The text of the block that directly follows, if it has no language or is JSON: what the commands print. */
  shown: string | undefined;
}

export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8');
export const firstLine = (code: string): string => code.split('\n')[0]!;

export function blocksOf(page: string): Block[] {
  const pattern = /(.*)\n\n```(\w*)( start)?\n([^]*?)^```$(?=(?:\n\n```(?:json)?\n([^]*?)^```$)?)/gm;
  return [...readPage(page).matchAll(pattern)].map(([, before, language, start, code, shown]) => ({
    page,
    name: `${page}: ${firstLine(code!).slice(0, 80)}`,
    language: language!,
    isStarted: start !== undefined,
    code: code!,
    before: before!,
    shown,
  }));
}

/** Returns the blocks of a page that a reader types into a shell. */
export const commandsOf = (page: string): Block[] =>
  blocksOf(page).filter(({ language }) => ['sh', 'bash', 'shell', 'console'].includes(language));

/** The blocks of commands that no test runs as they are written. */
export const notRun: { page: string; first: string; reason: string }[] = [
  {
    page: 'README.md',
    first: `curl http://127.0.0.1:3000/openai/v1/chat/completions -H 'Authorization: Bearer ns_…' -d '{"model": "llama", "messages": [{"role": "user", "content": "Say hello."}]}'`,
    reason:
      "needs a server with OpenAI's API; test/processes/openai-client.test.ts makes the call at a stand-in",
  },
  {
    page: 'docs/openai.md',
    first: `curl http://127.0.0.1:3000/openai/v1/chat/completions -H 'Authorization: Bearer ns_…' -H 'Content-Type: application/json' \\`,
    reason: 'as in README.md',
  },
  {
    page: 'CONTRIBUTING.md',
    first: 'npm ci',
    reason: 'starts the service twice and never ends; README.md has its commands one by one',
  },
  {
    page: 'docs/clients.md',
    first: `npm ci && npm pack -w nowserving            # makes nowserving-${version}.tgz`,
    reason: 'installs packages in two folders; npm run check:packages does the same',
  },
  {
    page: 'docs/clients.md',
    first: 'pip install ./clients/python',
    reason: 'installs a package; npm run check:packages does the same',
  },
  {
    page: 'clients/python/README.md',
    first: 'pip install ./clients/python',
    reason: 'as in docs/clients.md',
  },
  {
    page: 'docs/deploying.md',
    first:
      'docker build --target all-in-one --tag nowserving:all-in-one . && docker run --rm --stop-timeout 60 --publish 127.0.0.1:3000:3000 --volume nowserving:/app/.data nowserving:all-in-one',
    reason: 'needs Docker; npm run check:image runs the commands of the Dockerfile',
  },
  {
    page: 'docs/deploying.md',
    first: `IMAGE=registry.example.com/nowserving TAG=${version} docker buildx bake --push`,
    reason: 'needs Docker; test/repository/deployment.test.ts reads the file',
  },
  {
    page: 'docs/deploying.md',
    first: `npm ci && npm pack                                        # makes nowserving-server-${version}.tgz`,
    reason: 'installs packages in two folders; npm run check:packages does the same',
  },
  {
    page: 'docs/deploying.md',
    first:
      'for name in POSTGRES_PASSWORD OWNER_PASSWORD SERVICE_PASSWORD BOOTSTRAP_API_KEY; do echo "$name=$(openssl rand -hex 24)"; done > .env',
    reason: 'needs Docker; test/repository/deployment.test.ts reads the file',
  },
  {
    page: 'docs/deploying.md',
    first:
      'kubectl create secret generic nowserving-database --from-literal=service=postgresql://… --from-literal=owner=postgresql://…',
    reason: 'needs Kubernetes; npm run check:chart renders the chart',
  },
  {
    page: 'docs/postgresql.md',
    first:
      'DATABASE_URL=postgresql://nowserving_owner@postgres/nowserving npm run migrate -- --grants deploy/postgres/grants.sql',
    reason: 'needs roles of the whole server; test/database/roles.test.ts does the same',
  },
  {
    page: 'docs/deploying.md',
    first: 'npm ci && npm run build && npm prune --omit=dev --omit=optional',
    reason:
      'removes packages that the tests need; these are the commands of the Dockerfile (a test compares)',
  },
  {
    page: 'docs/operations.md',
    first: 'DATABASE_URL_FILE=/run/secrets/database-url node dist/src/main.js',
    reason: 'needs a secret of the machine; src/config/secret-files.spec.ts reads such files',
  },
  {
    page: 'docs/backups.md',
    first: `jq -r 'select(.at > "2026-03-01T02:00:00Z" and (.action | test("^(key[.](revoke|update)|request[.](erase|delete)|file[.]delete|secret[.]rotate|session[.]end|endpoint[.](remove|disable|enable|update)|model[.](pause|resume|concurrency)|operation[.]start)$"))) | [.at, .action, .target] | @tsv' audit.ndjson`,
    reason: 'needs jq and an export that was kept before a restore',
  },
  {
    page: 'docs/backups.md',
    first:
      'pg_dump -Fc -f nowserving.dump "$DATABASE_URL"        # the backup, every night; behind a pooler use DATABASE_DIRECT_URL',
    reason: 'needs a superuser; tried by hand with PostgreSQL 15',
  },
  {
    page: 'docs/backups.md',
    first: 'pg_restore --no-owner --exit-on-error -d "$DATABASE_URL" nowserving.dump',
    reason: 'needs an empty database; tried by hand with PostgreSQL 15',
  },
  {
    page: 'docs/chaos.md',
    first: 'npm run chaos -- --seconds 600 --seed 7',
    reason: 'takes ten minutes; .ci/run runs one minute of it',
  },
  {
    page: 'docs/failover-drill.md',
    first: 'npm run drill -- failover --rounds 1',
    reason: 'takes minutes and needs Patroni, etcd and HAProxy; its results are kept in drill/results',
  },
  {
    page: 'docs/upgrading.md',
    first:
      'DATA=/srv/nowserving OLD=/opt/nowserving-old NEW=/opt/nowserving     # DATA_DIR, and both releases',
    reason: 'needs an earlier release with another PostgreSQL; npm run check data-folder runs the commands',
  },
  {
    page: 'docs/upgrading.md',
    first: 'npm run upgrade',
    reason: 'takes minutes; .ci/run runs its short form',
  },
  {
    page: 'docs/workers.md',
    first: '#!/bin/sh',
    reason: 'is a program: test/processes/worker-in-sh.test.ts runs it',
  },
  {
    page: 'examples/README.md',
    first: 'npx nowserving work --model story/command --stdout text -- \\',
    reason: 'needs the weights of a model; test/processes/gpu-examples.test.ts runs it with a stand-in',
  },
];

export const isRun = ({ page, code }: Block): boolean =>
  !notRun.some((entry) => entry.page === page && entry.first === firstLine(code));

/** The pages whose commands need no more than a running service and are fast: `npm test` runs them, in this order. */
export const fastPages = [
  'docs/batches.md',
  'docs/calling.md',
  'docs/collection.md',
  'docs/database.md',
  'docs/fal.md',
  'docs/files.md',
  'docs/models.md',
  'docs/streaming-output.md',
  'docs/admin.md',
  'docs/quick-starts.md',
];
/** The pages that test/processes/examples.test.ts and ocr.test.ts run, each block for each of three models. */
export const examplesPage = 'examples/README.md';
export const ocrPage = 'examples/ocr/README.md';
/** All other pages with commands: `npm run test:processes` runs them. */
export const slowPages = pages.filter(
  (page) => ![...fastPages, examplesPage, ocrPage].includes(page) && commandsOf(page).some(isRun),
);

/**
 * Returns a matcher for a page's output. A page may omit fields. Ids, times, measured numbers and the text of an
 * ellipsis differ each time.
 */
export function alike(shown: unknown, serviceUrl: string): unknown {
  const inner = (value: unknown): unknown => alike(value, serviceUrl);
  if (typeof shown === 'string')
    return expect.stringMatching(new RegExp(`^${patternOf(shown, serviceUrl)}$`));
  if (typeof shown === 'number' && !Number.isInteger(shown)) return expect.any(Number);
  if (Array.isArray(shown)) return shown.map(inner);
  if (typeof shown !== 'object' || shown === null) return shown;
  const fields = Object.entries(shown).map(([name, value]): [string, unknown] => [
    name,
    name.endsWith('_ms') ? expect.any(Number) : inner(value),
  ]);
  return expect.objectContaining(Object.fromEntries(fields));
}

function patternOf(text: string, serviceUrl: string): string {
  return text
    .replaceAll('http://127.0.0.1:3000', serviceUrl)
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '[0-9a-f-]{36}')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\\\.\d{3}Z/g, String.raw`\d{4}-\d\d-\d\dT[\d:.]{12}Z`)
    .replaceAll('…', '[^]*');
}
