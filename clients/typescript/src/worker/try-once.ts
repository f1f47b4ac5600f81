import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { factsOf } from './claimed-run.js';
import { lineOf, type RunEvent } from './event-sender.js';
import { execute, outputText, voiceOf } from './execute.js';
import { Away, Fail, failureOf, Retry, Stopped } from './failures.js';
import { downloadOnce } from './files.js';
import { joined } from './json-text.js';
import type { Handler, Run } from './types.js';

/** Line breaks in JSON that a command printed. They are never inside strings. */
const lineEnds = /[\r\n]+/g;

/** Runs one input without a service. Prints the events of the run, and its output or error, as lines of JSON. */
export async function tryOnce(handlers: ReadonlyMap<string, Handler>, inputText: string): Promise<void> {
  const [[model, handler]] = [...handlers] as [[string, Handler]];
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Stopped('shutdown'));
  process.once('SIGINT', interrupt);
  const deltas: unknown[] = [];
  const say = (event: RunEvent): void => {
    if (event.type === 'delta') deltas.push(event.delta);
    print(lineOf(event));
  };
  try {
    const input = inputOf(inputText);
    const run: Run = {
      ...factsOf({ request_id: '00000000-0000-7000-8000-000000000000', model_id: model, attempt: 1 }),
      inputText,
      signal: stop.signal,
      ...voiceOf(say),
      download: downloadHere as Run['download'],
      upload: uploadHere,
    };
    const output = await execute(handler, input, run, () => Promise.resolve());
    const json = outputText(output === undefined && deltas.length > 0 ? joined(deltas) : output);
    print(`{"type":"output","output":${json.replaceAll(lineEnds, ' ')}}`);
  } catch (error) {
    const isMeant = error instanceof Fail || error instanceof Retry || error instanceof Away;
    if (error instanceof Error && !isMeant) process.stderr.write(`${error.stack}\n`);
    print(JSON.stringify({ type: 'error', ...failureOf(error) }));
    process.exitCode = 1;
  } finally {
    process.off('SIGINT', interrupt);
  }
}

function inputOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fail(`The value of --try must be JSON, such as --try '{"prompt":"hello"}'.`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A local try may read any file and any address. */
async function downloadHere(url: string, { to }: { to?: string } = {}): Promise<Uint8Array | string> {
  if (!url.startsWith('file:')) return downloadOnce(url, to);
  const bytes = await readFile(fileURLToPath(url));
  if (to === undefined) return bytes;
  await writeFile(to, bytes);
  return to;
}

async function uploadHere(name: string, content: Uint8Array | Blob | string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'nowserving-try-')), basename(name));
  const bytes = content instanceof Blob ? new Uint8Array(await content.arrayBuffer()) : content;
  await writeFile(file, typeof bytes === 'string' ? await readFile(bytes) : bytes);
  return pathToFileURL(file).href;
}
