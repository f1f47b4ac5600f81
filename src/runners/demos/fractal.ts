import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Files } from '../../files/files.js';
import type { Run } from '../../queue/runs/runner.js';
import type { Drawing } from '../fractal/fractal-image.js';
import type { WorkerMessage } from '../fractal/fractal-worker.js';
import { keepOutput } from '../file-output.js';

/** Already checked against the model's input schema. */
type FractalInput = { prompt: string; output?: 'data' | 'file' } & Partial<Omit<Drawing, 'seed'>>;

/** Threads load only compiled JavaScript. Jest compiles in memory, so under Jest the built file is used. */
const workerUrl = import.meta.url.endsWith('.ts')
  ? new URL('../../../dist/src/runners/fractal/fractal-worker.js', import.meta.url)
  : new URL('../fractal/fractal-worker.js', import.meta.url);

/** Draws a PNG in a worker thread, so that the API stays responsive. */
export async function runFractal(run: Run, files: Files): Promise<string> {
  const { signal } = run;
  signal.throwIfAborted();
  const { prompt, width = 768, height = 768, steps = 200, output } = JSON.parse(run.input) as FractalInput;
  // The same prompt produces the same picture.
  const seed = createHash('sha256').update(prompt).digest().readUInt32BE(0);
  const workerData: Drawing = { width, height, steps, seed };
  run.log('INFO', `Drawing ${width}×${height} pixels in up to ${steps} steps, seed ${seed}.`);
  const worker = new Worker(workerUrl, { workerData });
  const stop = (): void => void worker.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const png = await new Promise<Uint8Array>((resolve, reject) => {
      worker.on('message', (message: WorkerMessage) => {
        if (message.png !== undefined) return resolve(message.png);
        const drawn = `${message.percent} % drawn.`;
        run.log('INFO', drawn);
        run.progress(message.percent / 100, drawn);
      });
      worker.on('error', reject);
      worker.on('exit', () => reject(new Error('the worker thread ended before the picture was done')));
    });
    if (output === 'file') {
      const { file } = await keepOutput(files, run, [Buffer.from(png)], 'image/png', 'fractal.png');
      return JSON.stringify({ image: { ...file, width, height }, seed });
    }
    const url = `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
    return JSON.stringify({ image: { url, width, height }, seed });
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
