import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { format } from 'prettier';
import { buildIfStale } from '../scripts/build.js';
import { judge } from './judge.js';
import { Load } from './load.js';
import { freePort, Node, Program, startProxy } from './programs.js';
import { changedFiles, hasCommit, Release, root } from './release.js';
import { faultsOf, roundsBy } from './rounds.js';
import { startModel, startReceiver } from './servers.js';

/**
 * `npm run upgrade`: two nodes behind HAProxy, with workers, streams and webhooks under load, go from an earlier commit
 * to this one, back, and to this one again, node by node. The client libraries of each call the service of the other.
 * `--from COMMIT`: the earlier commit. `--short`: a form for CI, which goes there and back, and stores no result.
 * `--has-history`: only returns, by the exit code, whether the clone has the earlier commit.
 */
const { values: options } = parseArgs({
  options: {
    from: { type: 'string', default: '3f53e677' },
    short: { type: 'boolean', default: false },
    'has-history': { type: 'boolean', default: false },
  },
});
const key = 'upgrade_drill_key_0123456789';
/** Calm times before, between and after the changes. */
const calmMs = options.short ? 1_000 : 5_000;
/** HAProxy gives up a node after three failed checks, so a node must serve for longer after SIGTERM. */
const checkMs = options.short ? 500 : 1_000;
const delayOfStopMs = 5 * checkMs;

const python = ['python3', '/usr/bin/python3'].find(
  (command) => spawnSync(command, ['-c', 'import httpx']).status === 0,
);
if (!hasCommit(options.from))
  fail(`No upgrade was tried, because this clone has no commit ${options.from}. Run: git fetch --unshallow`);
if (options['has-history']) process.exit(0);
if (changedFiles() !== '') fail('Commit first: the upgrade is between commits, which its result names.');
if (python === undefined) fail('The clients need httpx. Run: apt-get install -y python3-httpx');

buildIfStale();
const { EmbeddedPostgres } = await import('../dist/src/embedded-postgres/embedded-postgres.js');
const began = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'nowserving-upgrade-'));
chmodSync(folder, 0o755);
const postgres = new EmbeddedPostgres(join(folder, 'database'));
const stages = [];
try {
  const result = await drill();
  for (const line of result.wrong) print(`FAIL ${line}`);
  const { submissions, calls, resumed } = result;
  const sum = Object.values(calls).reduce((all, count) => all + count, 0);
  print(
    `${submissions} requests, ${sum} calls and ${resumed} resumed streams over ${stages.length} changes of a node ` +
      `between ${result.from.commit} and ${result.to.commit}, in ${result.seconds} s: ` +
      (result.wrong.length === 0
        ? 'nothing lost, nothing twice, no call failed'
        : `${result.wrong.length} faults`),
  );
  if (!options.short) await store(result);
  process.exitCode = result.wrong.length === 0 ? 0 : 1;
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function drill() {
  const [from, to] = [
    new Release('old', options.from, join(folder, 'old')),
    new Release('new', 'HEAD', join(folder, 'new')),
  ];
  for (const release of [from, to]) release.build();
  say(`built ${from.commit} and ${to.commit}`);

  const [databaseUrl, model, receiver] = await Promise.all([postgres.start(), startModel(), startReceiver()]);
  const environment = environmentOf(databaseUrl, model.url);
  const ports = [await freePort(), await freePort()];
  const nodes = ports.map((port, index) => new Node(`node-${index + 1}`, port, environment));
  for (const node of nodes) await node.start(from);
  const proxy = await startProxy(folder, ports, checkMs);
  const workers = [from, to].map((release) => startWorker(release, proxy.url));
  const load = new Load(proxy.url, key, receiver.url);
  load.start();
  await delay(calmMs);

  const wrong = [];
  /** Each by the library of the release that the service is not. */
  const clients = {};
  const callBy = async (release, service) => {
    const ends = await roundsBy(release, python, proxy.url, key);
    clients[`${release.name} clients, ${service.name} service`] = ends;
    wrong.push(
      ...Object.entries(ends).flatMap(([language, end]) => faultsOf(end, release, service, language)),
    );
  };
  await callBy(to, from);

  wrong.push(...migrate(to, databaseUrl));
  await delay(calmMs);
  const way = options.short ? [to, from] : [to, from, to];
  for (const [index, release] of way.entries()) {
    for (const node of nodes) {
      await node.replace(release);
      stages.push(node.program.name);
      say(
        `${node.program.name} serves, ${load.submissions} requests so far, ${load.failures.length} failed calls`,
      );
      // HAProxy calls it again after its next check.
      await delay(2 * checkMs);
    }
    if (index === 0) await callBy(from, to);
    await delay(calmMs);
  }

  await load.stop();
  wrong.push(...(await judge(databaseUrl, load, receiver)));
  for (const program of [...workers, proxy.program]) {
    program.child.kill('SIGTERM');
    await program.exited;
  }
  await Promise.all(nodes.map((node) => node.stop()));
  await Promise.all([model.stop(), receiver.stop()]);
  const complaints = nodes.flatMap((node) => node.complaints);
  wrong.push(...complaints.map((line) => `an error in a log: ${line.slice(0, 500)}`));
  return {
    date: new Date().toISOString(),
    from: { commit: from.commit, tree: from.tree },
    to: { commit: to.commit, tree: to.tree },
    node: process.version,
    seconds: Math.round((performance.now() - began) / 1_000),
    stages,
    submissions: load.submissions,
    calls: load.counts,
    resumed: load.resumed,
    clients,
    wrong,
  };
}

function environmentOf(databaseUrl, modelUrl) {
  const models = join(folder, 'models.yaml');
  writeFileSync(
    models,
    `models:
  - id: up/http
    runner: { kind: http, url: '${modelUrl}' }
    concurrency: 40
  - id: up/worker
    runner: { kind: worker }
`,
  );
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(folder, 'data'),
    MODELS_FILE: models,
    BOOTSTRAP_API_KEY: key,
    // The earlier release may not know it. Its first start migrates then.
    MIGRATE: 'off',
    TRUST_PROXY: '1',
    RATE_LIMIT_SUBMIT: 'off',
    RATE_LIMIT_OTHER: 'off',
    WEBHOOK_ALLOW: '127.0.0.1',
    SHUTDOWN_DELAY: `${delayOfStopMs}ms`,
    SHUTDOWN_GRACE: '15s',
    CONSOLE: 'off',
    LOG_LEVEL: 'warn',
  };
}

function startWorker(release, url) {
  return new Program(`worker (${release.name})`, python, [join(root, 'upgrade/worker.py')], {
    PYTHONPATH: release.python,
    NOWSERVING_URL: url,
    NOWSERVING_KEY: key,
  });
}

/** Migrates by the new release, while the old nodes serve. Returns what is wrong. */
function migrate(release, databaseUrl) {
  const run = (...args) =>
    spawnSync(process.execPath, [join(release.folder, 'dist/src/migrate.js'), ...args], {
      env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
      encoding: 'utf8',
    });
  const codes = [run('status'), run(), run('status')];
  say(`migrated: ${codes[1].stdout.trim().split('\n').at(-1)}`);
  return codes
    .filter(({ status }, index) => status !== [1, 0, 0][index])
    .map(({ status, stdout, stderr }) => `npm run migrate ended with ${status}: ${stdout}${stderr}`);
}

async function store(result) {
  const directory = join(root, 'upgrade/results');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${result.date.replaceAll(':', '').slice(0, 17)}.json`);
  writeFileSync(file, await format(JSON.stringify(result), { parser: 'json', printWidth: 110 }));
  say(`wrote ${file}`);
}

function say(text) {
  print(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${text}`);
}

function print(text) {
  process.stdout.write(`${text}\n`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
