export interface ChaosModel {
  id: string;
  /** Models of workers may omit it. */
  concurrency?: number;
  /** The group whose slots it shares. */
  group?: string;
  timeout: string;
  attempts: number;
  expires?: string;
  /** For a model whose failures are those of single requests, which must not keep the others waiting. */
  circuit?: 'off';
  /**
   * What runs it: the service itself with the input as output, workers, or the harness as a server whose runs go on
   * without a connection. undefined: the harness, under the model's own path.
   */
  kind?: 'echo' | 'worker' | 'followed';
}

/** The models of a run. A worker's lease lasts 30 s, and runs of workers may take longer. */
export const models: readonly ChaosModel[] = [
  { id: 'chaos/fast', concurrency: 6, timeout: '20s', attempts: 3 },
  { id: 'chaos/slow', concurrency: 4, timeout: '20s', attempts: 3 },
  { id: 'chaos/broken', concurrency: 5, timeout: '3s', attempts: 4, circuit: 'off' },
  { id: 'chaos/single', concurrency: 1, timeout: '20s', attempts: 3 },
  { id: 'chaos/impatient', concurrency: 1, timeout: '20s', attempts: 2, expires: '2s' },
  { id: 'chaos/shared', concurrency: 5, timeout: '20s', attempts: 3 },
  { id: 'chaos/echo', concurrency: 16, timeout: '20s', attempts: 3, kind: 'echo' },
  { id: 'chaos/held', concurrency: 2, timeout: '30m', attempts: 3 },
  { id: 'chaos/deep', concurrency: 8, timeout: '30m', attempts: 3 },
  { id: 'chaos/tokens', concurrency: 4, timeout: '20s', attempts: 3, circuit: 'off' },
  { id: 'chaos/picture', concurrency: 3, timeout: '20s', attempts: 3, circuit: 'off' },
  { id: 'chaos/followed', concurrency: 4, timeout: '60s', attempts: 3, kind: 'followed' },
  { id: 'chaos/loaded', group: 'chaos-gpu', timeout: '20s', attempts: 3, circuit: 'off' },
  { id: 'chaos/swapped', group: 'chaos-gpu', timeout: '20s', attempts: 3, circuit: 'off' },
  { id: 'chaos/small', concurrency: 1, group: 'chaos-gpu', timeout: '20s', attempts: 3, circuit: 'off' },
  { id: 'chaos/poison', concurrency: 4, timeout: '20s', attempts: 3 },
  { id: 'chaos/work', timeout: '100s', attempts: 3, kind: 'worker' },
  { id: 'chaos/story', timeout: '100s', attempts: 3, kind: 'worker' },
  { id: 'chaos/drawing', timeout: '100s', attempts: 3, kind: 'worker' },
  { id: 'chaos/team', concurrency: 3, timeout: '100s', attempts: 3, kind: 'worker' },
  { id: 'chaos/held-work', concurrency: 2, timeout: '30m', attempts: 3, kind: 'worker' },
];

/** Three models on one GPU. Runs of more than one at once would not fit. */
export const groups: Readonly<Record<string, { concurrency: number; stay: string }>> = {
  'chaos-gpu': { concurrency: 2, stay: '2s' },
};

export const workerModels = models.filter(({ kind }) => kind === 'worker').map(({ id }) => id);

/** Returns whether its runs last until the harness ends them. */
export function holdsRuns(modelId: string): boolean {
  return modelId.startsWith('chaos/held') || modelId === 'chaos/deep';
}

export function isOfWorkers(modelId: string): boolean {
  return workerModels.includes(modelId);
}

export function modelsFile(modelUrl: string): string {
  const entries = models.map(
    ({ id, kind, concurrency, group, timeout, attempts, expires, circuit }) => `
  - id: ${id}
    runner: ${runnerOf(kind, `${modelUrl}/${id}`)}
    timeout: ${timeout}
    attempts: ${attempts}${option('concurrency', concurrency)}${option('group', group)}${option('circuit', circuit)}${option('expires', expires)}`,
  );
  return `groups: ${JSON.stringify(groups)}\nmodels:${entries.join('')}\n`;
}

const place = '"{url}/{run_id}"';
const howToFollow =
  `request: { method: PUT, url: ${place} }, ` +
  `follow: { url: ${place}, every: 200ms, done: { path: $.state, in: [done] }, ` +
  `failed: { path: $.state, in: [cancelled] }, output: $.output, cancel: { method: DELETE, url: ${place} } }`;

/** `NODE_NAME` tells the model which process called it. */
function runnerOf(kind: ChaosModel['kind'], url: string): string {
  if (kind === 'worker') return '{ kind: worker }';
  if (kind === 'echo') return '{ kind: demo, demo: echo }';
  const followed = kind === 'followed' ? `, ${howToFollow}` : '';
  return `{ kind: http, url: "${url}", headers: { x-node: "\${NODE_NAME}" }${followed} }`;
}

function option(name: string, value: string | number | undefined): string {
  return value === undefined ? '' : `\n    ${name}: ${value}`;
}
