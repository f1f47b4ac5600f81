export interface ChaosModel {
  id: string;
  /** Models of workers may omit it. */
  concurrency?: number;
  timeout: string;
  attempts: number;
  expires?: string;
  /** For a model whose failures are those of single requests, which must not keep the others waiting. */
  circuit?: 'off';
  /**
   * What runs it: the service itself with the input as output, or workers. undefined: the harness, under the model's
   * own path.
   */
  kind?: 'echo' | 'worker';
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
  { id: 'chaos/tokens', concurrency: 4, timeout: '20s', attempts: 3, circuit: 'off' },
  { id: 'chaos/picture', concurrency: 3, timeout: '20s', attempts: 3, circuit: 'off' },
  { id: 'chaos/poison', concurrency: 4, timeout: '20s', attempts: 3 },
  { id: 'chaos/work', timeout: '100s', attempts: 3, kind: 'worker' },
  { id: 'chaos/story', timeout: '100s', attempts: 3, kind: 'worker' },
  { id: 'chaos/drawing', timeout: '100s', attempts: 3, kind: 'worker' },
  { id: 'chaos/team', concurrency: 3, timeout: '100s', attempts: 3, kind: 'worker' },
  { id: 'chaos/held-work', concurrency: 2, timeout: '30m', attempts: 3, kind: 'worker' },
];

export const workerModels = models.filter(({ kind }) => kind === 'worker').map(({ id }) => id);

export function isOfWorkers(modelId: string): boolean {
  return workerModels.includes(modelId);
}

export function modelsFile(modelUrl: string): string {
  const entries = models.map(
    ({ id, kind, concurrency, timeout, attempts, expires, circuit }) => `
  - id: ${id}
    runner: ${runnerOf(kind, `${modelUrl}/${id}`)}
    timeout: ${timeout}
    attempts: ${attempts}${option('concurrency', concurrency)}${option('circuit', circuit)}${option('expires', expires)}`,
  );
  return `models:${entries.join('')}\n`;
}

/** `NODE_NAME` tells the model which process called it. */
function runnerOf(kind: ChaosModel['kind'], url: string): string {
  if (kind === 'worker') return '{ kind: worker }';
  if (kind === 'echo') return '{ kind: demo, demo: echo }';
  return `{ kind: http, url: "${url}", headers: { x-node: "\${NODE_NAME}" } }`;
}

function option(name: string, value: string | number | undefined): string {
  return value === undefined ? '' : `\n    ${name}: ${value}`;
}
