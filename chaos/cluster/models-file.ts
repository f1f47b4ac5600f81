export interface ChaosModel {
  id: string;
  concurrency: number;
  timeout: string;
  attempts: number;
  expires?: string;
  /** Whether its failures are those of single requests, which must not keep the others waiting. */
  circuit?: 'off';
  /** Answers with its input, in the service itself: all others are served by the harness under their own path. */
  echo?: true;
}

/** The models of a run. */
export const models: readonly ChaosModel[] = [
  { id: 'chaos/fast', concurrency: 6, timeout: '20s', attempts: 3 },
  { id: 'chaos/slow', concurrency: 4, timeout: '20s', attempts: 3 },
  { id: 'chaos/broken', concurrency: 5, timeout: '3s', attempts: 4, circuit: 'off' },
  { id: 'chaos/single', concurrency: 1, timeout: '20s', attempts: 3 },
  { id: 'chaos/impatient', concurrency: 1, timeout: '20s', attempts: 2, expires: '2s' },
  { id: 'chaos/shared', concurrency: 5, timeout: '20s', attempts: 3 },
  { id: 'chaos/echo', concurrency: 16, timeout: '20s', attempts: 3, echo: true },
  { id: 'chaos/held', concurrency: 2, timeout: '30m', attempts: 3 },
];

export function modelsFile(modelUrl: string): string {
  const entries = models.map(
    ({ id, concurrency, timeout, attempts, expires, circuit = 'on', echo }) => `
  - id: ${id}
    runner: ${echo === true ? '{ kind: demo, demo: echo }' : httpRunner(`${modelUrl}/${id}`)}
    concurrency: ${concurrency}
    timeout: ${timeout}
    circuit: ${circuit}
    attempts: ${attempts}${expires === undefined ? '' : `\n    expires: ${expires}`}`,
  );
  return `models:${entries.join('')}\n`;
}

/** `NODE_NAME` lets the model know which process called it. */
function httpRunner(url: string): string {
  return `{ kind: http, url: "${url}", headers: { x-node: "\${NODE_NAME}" } }`;
}
