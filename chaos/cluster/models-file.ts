export interface ChaosModel {
  id: string;
  concurrency: number;
  timeout: string;
  attempts: number;
  expires?: string;
}

/** The models of a run. Each is served by the harness under its own path. */
export const models: readonly ChaosModel[] = [
  { id: 'chaos/fast', concurrency: 6, timeout: '20s', attempts: 3 },
  { id: 'chaos/slow', concurrency: 4, timeout: '20s', attempts: 3 },
  { id: 'chaos/broken', concurrency: 5, timeout: '3s', attempts: 4 },
  { id: 'chaos/single', concurrency: 1, timeout: '20s', attempts: 3 },
  { id: 'chaos/impatient', concurrency: 1, timeout: '20s', attempts: 2, expires: '2s' },
  { id: 'chaos/held', concurrency: 2, timeout: '30m', attempts: 3 },
];

/** `NODE_NAME` lets the model know which process called it. */
export function modelsFile(modelUrl: string): string {
  const entries = models.map(
    ({ id, concurrency, timeout, attempts, expires }) => `
  - id: ${id}
    runner: { kind: http, url: "${modelUrl}/${id}", headers: { x-node: "\${NODE_NAME}" } }
    concurrency: ${concurrency}
    timeout: ${timeout}
    attempts: ${attempts}${expires === undefined ? '' : `\n    expires: ${expires}`}`,
  );
  return `models:${entries.join('')}\n`;
}
