import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.js';
import { allSteps, dockerIgnore, imageSettings, parseDockerfile, stageOf } from './dockerfile.js';

/**
 * Runs the Dockerfile's own commands in clean folders, one a stage, and starts both images with their own CMD and ENV:
 * `service` against a PostgreSQL, `all-in-one` with the embedded one. It tests all but the base image and the platform of
 * another machine, which would need a Docker engine.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'nowserving-image-'));
chmodSync(place, 0o755);
const stages = parseDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8'));
const ignored = dockerIgnore(readFileSync(join(root, '.dockerignore'), 'utf8'));

/** The base image has an ordinary user `node`, but this machine may have none. */
const ordinary =
  process.getuid() === 0 ? { uid: 65_534, gid: 65_534 } : { uid: process.getuid(), gid: process.getgid() };
const owner = `${ordinary.uid}:${ordinary.gid}`;

buildIfStale();
const { EmbeddedPostgres } = await import('../dist/src/embedded-postgres/embedded-postgres.js');
const postgres =
  process.env.DATABASE_URL === undefined ? new EmbeddedPostgres(join(place, 'database')) : undefined;
try {
  for (const stage of stages) buildStage(stage);
  const key = randomBytes(24).toString('hex');
  await runImage(
    stageOf(stages, 'service'),
    { DATABASE_URL: process.env.DATABASE_URL ?? (await postgres.start()), BOOTSTRAP_API_KEY: key },
    () => key,
  );
  // It is given no settings, and prints the key for applications after that of the administrator.
  await runImage(stageOf(stages, 'all-in-one'), {}, (said) => said.match(/ns_[\w-]{43}/g)?.[1]);
  console.log('Both images start, are healthy, answer, run as an ordinary user and stop on their signal.');
} finally {
  await postgres?.stop();
  rmSync(place, { recursive: true, force: true, maxRetries: 5 });
}

function buildStage(stage) {
  const { name, base, steps } = stage;
  let folder = join(place, name);
  if (base === undefined) mkdirSync(folder);
  else spawnSync('cp', ['--archive', join(place, base.name), folder]);
  const environment = { PATH: process.env.PATH, HOME: place, npm_config_cache: npmCache() };
  for (const step of allSteps(stage)) {
    const { instruction, rest } = step;
    if (instruction === 'WORKDIR') mkdirSync((folder = join(place, name, rest)), { recursive: true });
    if (instruction === 'ENV') environment[rest.split('=')[0]] = rest.split('=').slice(1).join('=');
    // The copy of the earlier stage has these already.
    if (!steps.includes(step)) continue;
    if (instruction === 'COPY') copy(rest, folder);
    if (instruction === 'RUN') {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', rest.replaceAll('node:node', owner)], {
        cwd: folder,
        env: environment,
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`RUN ${rest} failed in stage ${name}:\n${stdout}${stderr}`);
    }
  }
}

function copy(rest, folder) {
  const words = rest.split(/\s+/);
  const from = words[0].startsWith('--from=') ? words.shift().slice('--from='.length) : undefined;
  const target = words.pop();
  for (const source of words) {
    const origin = from === undefined ? join(root, source) : join(place, from, source);
    if (!existsSync(origin) || (from === undefined && ignored(source))) {
      throw new Error(`COPY ${rest}: ${source} is not there, or .dockerignore leaves it out`);
    }
    cpSync(origin, target === './' ? join(folder, basename(source)) : join(folder, target), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => from !== undefined || !ignored(relative(root, path)),
    });
  }
}

/** `keyOf` returns a key that may submit from what the service said. undefined: it has said none yet. */
async function runImage(stage, settings, keyOf) {
  const { environment, command, folder, healthcheck, user, stopSignal } = imageSettings(stage);
  if (!existsSync(join(place, stage.name, folder, 'dist/THIRD-PARTY-NOTICES.md')))
    throw new Error('The image has no notices');
  // The image's port may be taken on this machine; everything else is as in the image.
  const env = {
    PATH: process.env.PATH,
    ...environment,
    PORT: String(20_000 + (process.pid % 20_000)),
    ...settings,
  };
  const options = { cwd: join(place, stage.name, folder), env, ...(user !== undefined && ordinary) };
  const child = spawn(command[0], command.slice(1), { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const exited = new Promise((done) => child.once('exit', (code, signal) => done({ code, signal })));
  try {
    const isHealthy = () => spawnSync(healthcheck[0], healthcheck.slice(1), options).status === 0;
    await until(isHealthy, 'The HEALTHCHECK never passed');
    await until(() => keyOf(said) !== undefined, 'It printed no key');
    await submitOne(env.PORT, keyOf(said));
    const help = spawnSync('node', ['dist/src/keys.js', '--help'], { ...options, encoding: 'utf8' }).stdout;
    if (!help.includes('node dist/src/keys.js create')) throw new Error(`The help of keys is:\n${help}`);
    child.kill(stopSignal);
    const { code, signal } = await exited;
    if (code !== 0) throw new Error(`On ${stopSignal} it ended with ${code ?? signal}`);
    const sick = spawnSync(healthcheck[0], healthcheck.slice(1), options).status;
    if (sick !== 1) throw new Error('The HEALTHCHECK calls a stopped service healthy');
  } catch (error) {
    throw new Error(`${stage.name}: ${error.message}\nThe service said:\n${said}`, { cause: error });
  } finally {
    child.kill('SIGKILL');
  }
}

async function until(isMet, message) {
  for (let tries = 0; tries < 60; tries++) {
    if (isMet()) return;
    await delay(500);
  }
  throw new Error(message);
}

async function submitOne(port, key) {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/queue/demo/text/echo`, {
    method: 'POST',
    headers: { authorization: `Key ${key}` },
    body: '{"text":"hello"}',
  });
  if (answer.status !== 202) throw new Error(`A submission got ${answer.status}: ${await answer.text()}`);
}

function npmCache() {
  return spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim();
}
