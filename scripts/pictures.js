import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { keyColour } from '../console/src/views/key-colours.js';
import { launchChromium } from '../test/support/chromium.js';
import { ConsoleTab } from '../test/support/console-tab.js';
import { until } from '../test/support/until.js';
import { buildIfStale } from './build.js';

/**
 * `npm run pictures` takes the pictures of docs/pictures again. It starts three nodes on 127.0.0.1 with their own
 * database, models and callers, and opens their console in Chromium. `--minutes 20` lets the callers work for this long
 * first, because the charts of the last hour show only what happened.
 */
const { values: options } = parseArgs({ options: { minutes: { type: 'string', default: '1' } } });
const minutes = Number(options.minutes);
if (!(minutes >= 0)) throw new Error('--minutes: expected a number of minutes');

const [upscale, transcribe, story] = ['acme/image/upscale', 'acme/audio/transcribe', 'acme/text/story'];
/** How many requests of a caller wait for a model. */
const load = [
  { caller: 'web shop', model: upscale, waiting: 10 },
  { caller: 'newsroom', model: upscale, waiting: 12 },
  { caller: 'research', model: upscale, waiting: 380 },
  { caller: 'research', model: transcribe, waiting: 450 },
];
/** The seconds that a run takes: at least, at most. */
const runSeconds = { [upscale]: [2, 5], [transcribe]: [1, 2], [story]: [0, 0.5] };
/** The model fails if a picture is to become this many times as large. */
const tooLarge = 16;
const outOfMemory = { detail: 'CUDA out of memory. Tried to allocate 2.10 GiB' };

buildIfStale();
const { Config } = await import('../dist/src/config/config.js');
const { startService } = await import('../dist/src/service.js');

const nodes = [];
const secrets = { operator: randomBytes(24).toString('hex') };
let isOver = false;
const cleanUps = [];
// Without an exit Node would leave the database running.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
try {
  await startNodes();
  const failed = await startLoad();
  await takePictures(failed);
} finally {
  isOver = true;
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
}

async function startNodes() {
  const directory = mkdtempSync(join(tmpdir(), 'nowserving-pictures-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const [server, lost] = [await startModels(), await startModels()];
  const at = (url, id) => ({ id, runner: { kind: 'http', url: `${url}/${id}` } });
  const models = [
    {
      ...at(server.url, upscale),
      description: 'Makes a picture larger.',
      concurrency: 6,
      attempts: 2,
      retry: { base: '3s' },
    },
    { ...at(server.url, transcribe), description: 'Writes down what is said.', concurrency: 3 },
    { ...at(lost.url, story), description: 'Tells a story.', concurrency: 3 },
  ];
  const modelsFile = join(directory, 'models.yaml');
  writeFileSync(modelsFile, JSON.stringify({ models }));
  for (const nodeName of ['alpha', 'beta', 'gamma']) {
    const config = Object.assign(new Config(), {
      port: 0,
      nodeName,
      modelsFile,
      dataDir: directory,
      databaseUrl: nodes[0]?.databaseUrl,
      bootstrapApiKey: secrets.operator,
      logLevel: 'error',
      shutdownGraceMs: 1_000,
    });
    const node = await startService(config);
    nodes.push(node);
    cleanUps.push(() => node.stop());
  }
  await makeKeys();
  const [{ request_id: first }] = await submit('intern', story, 1);
  await completed(first);
  lost.stop();
}

async function startModels() {
  const server = createServer((call, response) => void runModel(call, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  cleanUps.push(stop);
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}

/** Answers a call. After the last answer to a request its caller submits another one. */
async function runModel(call, response) {
  const model = call.url.slice(1);
  const { caller, ...input } = await json(call);
  const [min, max] = runSeconds[model];
  await delay(1_000 * (min + Math.random() * (max - min)), undefined, { ref: false });
  if (response.destroyed) return;
  const isFailure = input.scale === tooLarge;
  response.writeHead(isFailure ? 500 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(isFailure ? outOfMemory : input));
  const isRetried = isFailure && call.headers['x-attempt'] === '1';
  if (model !== story && !isRetried) await submit(caller, model, 1);
}

/** Makes the keys of the callers. The console derives a key's colour from its id: each gets its own. */
async function makeKeys() {
  const colours = new Set();
  const bounds = { newsroom: { max_running: 2 } };
  for (const name of ['web shop', 'newsroom', 'research', 'intern']) {
    while (secrets[name] === undefined) {
      const { id, key } = await call('operator', 'admin/keys', { name, ...bounds[name] });
      if (!colours.has(keyColour(id))) secrets[name] = key;
      colours.add(keyColour(id));
    }
  }
}

/** Returns the id of a request that failed after it had waited behind others. */
async function startLoad() {
  await submit('intern', story, 12);
  for (const { caller, model, waiting } of load) await submit(caller, model, waiting);
  await delay(minutes * 60_000);
  const [{ request_id: failed }] = await submit('web shop', upscale, 1, tooLarge);
  await completed(failed);
  await until(
    async () => {
      const { data } = await call('operator', 'admin/models');
      const [pictures, stories] = [upscale, story].map((id) => data.find((model) => model.id === id));
      return pictures.held > 0 && pictures.failed_last_hour > 2 && stories.availability === 'unavailable';
    },
    { message: 'every state of a model that the pictures show', timeoutMs: 120_000 },
  );
  return failed;
}

async function takePictures(failed) {
  const browser = await launchChromium();
  cleanUps.push(() => browser.close());
  const viewport = { width: 1200, height: 760 };
  const tab = await ConsoleTab.open(browser, nodes[0].url, { viewport, reducedMotion: 'reduce' });
  await tab.signIn(secrets.operator);
  const card = (model) => `article[aria-label="${model}"]`;
  const overview = [`${card(story)} .trouble`, `${card(upscale)} .strip a`, `${card(transcribe)} .strip a`];
  await take('console-overview-light', '', overview);
  await take('console-overview-dark', '', overview);
  await take('console-model-dark', `models/${upscale}`, ['.strip a', 'canvas', 'tbody tr'], 900);
  await take('console-request-light', `requests/${failed}`, ['.timeline .steps', '.timeline .run.failed']);

  /** Opens a view, waits until it shows all parts (selectors), and writes its picture in the colours of its name. */
  async function take(name, view, parts, height = viewport.height) {
    await tab.page.setViewportSize({ ...viewport, height });
    await tab.page.emulateMedia({ colorScheme: name.endsWith('-dark') ? 'dark' : 'light' });
    await tab.show(view);
    for (const part of parts) await tab.page.locator(part).first().waitFor();
    const path = fileURLToPath(new URL(`../docs/pictures/${name}.png`, import.meta.url));
    await tab.page.screenshot({ path, animations: 'disabled' });
    console.log(`docs/pictures/${name}.png`);
  }
}

async function completed(id) {
  const status = () => call('operator', `admin/requests/${id}`);
  await until(async () => (await status()).status === 'COMPLETED', {
    message: `${id} completes`,
    timeoutMs: 120_000,
    explain: status,
  });
}

/** Submits requests of a caller in one call. Without `scale`, one of twenty pictures becomes too large. */
async function submit(caller, model, count, scale) {
  const input = () =>
    model === upscale ? { caller, scale: scale ?? (Math.random() < 0.05 ? tooLarge : 2) } : { caller };
  const requests = Array.from({ length: count }, () => ({ model_id: model, input: input() }));
  const { results } = await call(caller, 'queue/requests', { requests });
  return results;
}

/** Calls the first node with a caller's key. An answer without success is an error, except while all is stopped. */
async function call(caller, path, body) {
  try {
    const response = await fetch(`${nodes[0].url}/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Key ${secrets[caller]}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text}`);
    return JSON.parse(text);
  } catch (error) {
    if (isOver) return {};
    throw error;
  }
}
