import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.js';

/**
 * Packs the server and both clients as a release has them, installs each in an empty folder, and uses it there. The
 * server and the TypeScript client run on each of `versions`, which npm's packages of Node bring, and so do a worker of
 * the client and a few unit tests. The Python client is installed from its wheel and from its source distribution. Then the server is upgraded to
 * a package with one migration more, and taken back.
 */
const versions = ['20.19.0', '22', '24'];
/** Unit tests of code that leans on Node itself: its HTTP, streams, threads and time. */
const unitTests = ['src/json', 'src/http', 'src/outgoing', 'src/limits', 'src/internals'];

/** A model of the installed service that a worker of the installed client serves. */
const servedModel = 'me/text/cat';

const root = fileURLToPath(new URL('..', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'nowserving-packages-'));
// As root the embedded PostgreSQL runs as another user, who must be able to walk to its binaries.
chmodSync(place, 0o755);
const offline = ['--prefer-offline', '--no-audit', '--no-fund', '--no-save'];

try {
  buildIfStale();
  run('node', ['scripts/notices.js'], root);
  const { version, server, client } = pack();
  const serverFolder = install('server', server);
  copyFileSync(
    join(serverFolder, 'node_modules/nowserving-server/models.yaml'),
    join(serverFolder, 'models.yaml'),
  );
  appendFileSync(
    join(serverFolder, 'models.yaml'),
    `\n  - id: ${servedModel}\n    runner: { kind: worker }\n`,
  );
  const clientFolder = install('client', client);
  const help = run(
    join(serverFolder, 'node_modules/.bin/nowserving-server'),
    ['keys', '--help'],
    serverFolder,
  );
  expectText(help, 'npx nowserving-server keys create', 'the help of keys');
  const python = pythonPackages(version);
  const nodes = fetchNodes();
  for (const node of nodes) {
    await withServer(node, serverFolder, async ({ url, key, admin }) => {
      await callByTypeScript(node, clientFolder, url, key, version);
      await serveAModel(node, clientFolder, url, key, admin);
      if (node === nodes.at(-1)) for (const folder of python) callByPython(folder, url, key, version);
    });
    testUnits(node);
    console.log(
      `Node ${node.version}: the server and the client of ${version} work, and the unit tests pass.`,
    );
  }
  console.log(`Python: the wheel and the source distribution of ${version} work.`);
  await upgradeAndBack({ version, server, serverFolder, clientFolder });
} finally {
  rmSync(place, { recursive: true, force: true, maxRetries: 5 });
}

/** The server's `prepack` would build everything again, so it is left out. */
function pack() {
  const files = ['--pack-destination', place, '--json'];
  const packed = [
    run('npm', ['pack', '--ignore-scripts', ...files], root),
    run('npm', ['pack', '--workspace', 'nowserving', ...files], root),
  ].map((printed) => JSON.parse(printed.slice(printed.indexOf('[')))[0]);
  const [server, client] = packed.map(({ filename }) => join(place, filename));
  return { version: packed[0].version, server, client };
}

/** Packs the next release, which has one migration more. Returns its file. */
function packNext(server, nextVersion) {
  run('tar', ['-xzf', server, '-C', place], place);
  const folder = join(place, 'package');
  const change = (file, before, after) => {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    expectText(text, before, file);
    writeFileSync(path, text.replace(before, after));
  };
  change(
    'package.json',
    /"version": "[^"]*"/.exec(readFileSync(join(folder, 'package.json')))[0],
    `"version": "${nextVersion}"`,
  );
  writeFileSync(
    join(folder, 'dist/migrations/9999-next-release.js'),
    `export class NextRelease1890000000000 {
      up = (db) => db.query("SET LOCAL lock_timeout = '5s'; CREATE TABLE next_release (id uuid PRIMARY KEY)");
      down = (db) => db.query('DROP TABLE next_release');
    }`,
  );
  const list = 'export const migrations = [';
  const imported = `import { NextRelease1890000000000 } from '../../migrations/9999-next-release.js';`;
  change('dist/src/database/data-source.js', list, `${imported}\n${list}`);
  change('dist/src/database/data-source.js', '\n];', '\n    NextRelease1890000000000,\n];');
  const printed = run('npm', ['pack', '--ignore-scripts', '--pack-destination', place, '--json'], folder);
  return join(place, JSON.parse(printed.slice(printed.indexOf('[')))[0].filename);
}

/**
 * Upgrades a database to the package of the next release, and goes back, as docs/upgrading.md describes it. Each release
 * must read what the other has written.
 */
async function upgradeAndBack({ version, server, serverFolder, clientFolder }) {
  const nextVersion = version.replace(/\d+$/, (patch) => Number(patch) + 1);
  const nextFolder = install('server-next', packNext(server, nextVersion));
  copyFileSync(join(serverFolder, 'models.yaml'), join(nextFolder, 'models.yaml'));
  const node = { version: process.version, program: process.execPath };
  const state = { data: join(place, 'data-upgraded') };
  const submitted = [];
  const useIt = async ({ url, key, admin }) => {
    await callByTypeScript(node, clientFolder, url, key, '');
    await serveAModel(node, clientFolder, url, key, admin);
    const headers = { authorization: `Key ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ text: `request ${submitted.length}` });
    const answer = await fetch(`${url}/v1/queue/demo/text/echo`, { method: 'POST', headers, body });
    submitted.push((await answer.json()).request_id);
    for (const [number, id] of submitted.entries()) {
      const path = `${url}/v1/queue/requests/${id}`;
      let response = await fetch(path, { headers: { ...headers, prefer: 'wait=30' } });
      for (let tries = 0; response.status === 202 && tries < 120; tries++) {
        await delay(250);
        response = await fetch(path, { headers });
      }
      expectText(await response.text(), `request ${number}`, path);
    }
  };
  await withServer(node, serverFolder, useIt, state);
  const migrate = (...words) =>
    run(
      node.program,
      [join(nextFolder, 'node_modules/.bin/nowserving-server'), 'migrate', ...words],
      nextFolder,
      {
        PATH: process.env.PATH,
        DATA_DIR: state.data,
      },
    );
  expectText(migrate('plan'), 'CREATE TABLE next_release', 'migrate plan');
  expectText(migrate(), 'applied NextRelease1890000000000', 'migrate');
  for (const folder of [nextFolder, serverFolder, nextFolder]) await withServer(node, folder, useIt, state);
  console.log(
    `${version} → ${nextVersion}, which has one migration more → ${version} → ${nextVersion}: ` +
      `each of ${submitted.length} requests is there.`,
  );
}

/** Installs a package in an empty folder, and returns the folder. */
function install(name, file) {
  const folder = join(place, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  run('npm', ['install', ...offline, file], folder);
  return folder;
}

/** Returns the Nodes of `versions`. If the registry does not have them, only the one that runs this script. */
function fetchNodes() {
  const folder = join(place, 'nodes');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const name = `node-${process.platform}-${process.arch}`;
  const wanted = versions.map((version) => `node-${version}@npm:${name}@${version}`);
  const { status, stderr } = spawnSync('npm', ['install', '--ignore-scripts', ...offline, ...wanted], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) {
    console.log(`Only Node ${process.version} was tried, because npm could not fetch the others:\n${stderr}`);
    return [{ version: process.version, program: process.execPath }];
  }
  return versions.map((version) => {
    const program = join(folder, 'node_modules', `node-${version}`, 'bin/node');
    return { version: run(program, ['--version'], folder).trim(), program };
  });
}

/**
 * Starts the server as its first start is documented, calls `use` with its address and both keys, and stops it. `state`:
 * the folder of the data, and the keys once a first start has printed them.
 */
async function withServer(node, folder, use, state = { data: join(place, `data-${node.version}`) }) {
  const env = { PATH: process.env.PATH, PORT: '0', DATA_DIR: state.data, SHUTDOWN_DELAY: '0s' };
  const child = spawn(node.program, [join(folder, 'node_modules/.bin/nowserving-server')], {
    cwd: folder,
    env,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const exited = once(child, 'exit');
  try {
    const keys = () => said.match(/ns_[\w-]{43}/g) ?? [];
    const started = () =>
      /http:\/\/127\.0\.0\.1:\d+/.test(said) && (state.key !== undefined || keys().length >= 2);
    for (let tries = 0; !started() && child.exitCode === null && tries < 240; tries++) await delay(250);
    if (!started()) throw new Error('It does not print its address and two keys');
    const [url] = said.match(/http:\/\/127\.0\.0\.1:\d+/);
    state.admin ??= keys()[0];
    state.key ??= keys()[1];
    for (const path of ['/health/ready', '/console', '/docs', '/docs/errors']) {
      const { status } = await fetch(`${url}${path}`);
      if (status !== 200) throw new Error(`${path} is answered ${status}`);
    }
    await use({ url, key: state.key, admin: state.admin });
  } catch (error) {
    throw new Error(`Node ${node.version}: ${error.message}\nThe service said:\n${said}`, { cause: error });
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
  if (child.exitCode !== 0) throw new Error(`On SIGTERM it ended with ${child.exitCode ?? child.signalCode}`);
}

/** Makes a model of the program `cat` by the worker of the installed client, and calls it. */
async function serveAModel({ program }, folder, url, key, admin) {
  const environment = (ofWhom) => ({ PATH: process.env.PATH, NOWSERVING_URL: url, NOWSERVING_KEY: ofWhom });
  const command = ['node_modules/.bin/nowserving', 'work', '--model', servedModel, '--', 'cat'];
  const worker = spawn(program, command, { cwd: folder, env: environment(admin) });
  let said = '';
  for (const stream of [worker.stdout, worker.stderr]) stream.on('data', (text) => (said += text));
  const exited = once(worker, 'exit');
  try {
    const code = `import { createClient } from 'nowserving';
      const queue = createClient({ url: process.env.NOWSERVING_URL, key: process.env.NOWSERVING_KEY });
      const { output } = await queue.run('${servedModel}', { input: { text: 'served' }, signal: AbortSignal.timeout(60_000) });
      console.log(output.text);`;
    writeFileSync(join(folder, 'served.mjs'), code);
    expectText(run(program, ['served.mjs'], folder, environment(key)), 'served', servedModel);
  } catch (error) {
    throw new Error(`${error.message}\nThe worker said:\n${said}`, { cause: error });
  } finally {
    worker.kill('SIGTERM');
    await exited;
  }
  if (worker.exitCode !== 0)
    throw new Error(`The worker ended with ${worker.exitCode ?? worker.signalCode}:\n${said}`);
}

async function callByTypeScript({ program }, folder, url, key, version) {
  const use = `const queue = createClient({ url: process.env.NOWSERVING_URL, key: process.env.NOWSERVING_KEY });
    queue.run('demo/text/echo', { input: { text: 'hello' } }).then(({ output }) => console.log(output.text));`;
  const files = {
    'use.mjs': `import { createClient } from 'nowserving';\nimport 'nowserving/worker';\n${use}`,
    'use.cjs': `const { createClient } = require('nowserving');\nrequire('nowserving/worker');\n${use}`,
  };
  const env = { PATH: process.env.PATH, NOWSERVING_URL: url, NOWSERVING_KEY: key };
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(folder, file), text);
    expectText(run(program, [file], folder, env), 'hello', file);
  }
  expectText(
    run(program, ['node_modules/.bin/nowserving', '--help'], folder, env),
    'nowserving work',
    'nowserving',
  );
  const { info } = await (await fetch(`${url}/v1/openapi.json`)).json();
  expectText(info.version, version, 'the version of the API description');
}

/** Builds the wheel and the source distribution, and installs each in a virtual environment. Returns their folders. */
function pythonPackages(version) {
  const modules = 'httpx, setuptools, wheel, pip';
  const python = ['python3', '/usr/bin/python3'].find(
    (program) => spawnSync(program, ['-c', `import ${modules}`]).status === 0,
  );
  if (python === undefined) {
    throw new Error(
      `The Python package needs ${modules} of one Python. Install the Debian packages python3-httpx, python3-pip, ` +
        'python3-setuptools and python3-wheel, for instance.',
    );
  }
  const source = join(place, 'python');
  const leftOut = /__pycache__|\.egg-info|\/build(\/|$)/;
  cpSync(join(root, 'clients/python'), source, { recursive: true, filter: (path) => !leftOut.test(path) });
  run(
    python,
    ['-c', `from setuptools.build_meta import *; build_wheel('dist'); build_sdist('dist')`],
    source,
  );
  const built = readdirSync(join(source, 'dist')).sort();
  expectText(
    built.join(' '),
    `nowserving-${version}-py3-none-any.whl nowserving-${version}.tar.gz`,
    'the build',
  );
  return built.map((file, index) => {
    const folder = join(place, `venv-${index}`);
    run(python, ['-m', 'venv', '--system-site-packages', '--without-pip', folder], place);
    const options = ['--no-index', '--no-deps', '--no-build-isolation', '--disable-pip-version-check'];
    const pip = ['-m', 'pip', '--python', join(folder, 'bin/python'), 'install', ...options];
    run(python, [...pip, join(source, 'dist', file)], place);
    return folder;
  });
}

function callByPython(folder, url, key, version) {
  const code = `import os, importlib.metadata, nowserving
client = nowserving.Client(os.environ["NOWSERVING_URL"], os.environ["NOWSERVING_KEY"])
print(client.run("demo/text/echo", {"text": "hello"}).output["text"])
print(importlib.metadata.version("nowserving"), nowserving.__file__)`;
  const env = { PATH: process.env.PATH, NOWSERVING_URL: url, NOWSERVING_KEY: key };
  const printed = run(join(folder, 'bin/python'), ['-c', code], folder, env);
  for (const text of ['hello', `${version} ${folder}`]) expectText(printed, text, 'the Python client');
}

function testUnits({ program, version }) {
  const jest = ['--import=./test/support/typescript.js', 'node_modules/jest/bin/jest.js', '--maxWorkers=1'];
  try {
    run(program, ['--enable-source-maps', ...jest, ...unitTests], root);
  } catch (error) {
    throw new Error(`Node ${version}: ${error.message}`, { cause: error });
  }
}

function expectText(text, expected, what) {
  if (!text.includes(expected)) throw new Error(`${what}: expected "${expected}", got "${text}"`);
}

/** Returns the standard output. */
function run(command, args, cwd, env = process.env) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}
