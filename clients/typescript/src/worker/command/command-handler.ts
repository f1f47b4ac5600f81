import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Stopped } from '../failures.js';
import { JsonText } from '../json-text.js';
import type { Run } from '../types.js';
import { environmentOf } from './environment.js';
import { errorOf } from './exit-codes.js';
import { Lines } from './lines.js';
import { withUploads } from './output-files.js';
import { ProcessGroup } from './process-group.js';
import { readerOf, type StdoutForm } from './stdout.js';

const maxLogLine = 8_192;

export interface Command {
  command: string;
  args: readonly string[];
  stdout: StdoutForm;
  killAfterMs: number;
  /** Names of environment variables that are passed on. */
  env: readonly string[];
}

/** Returns a handler that runs a command for each request, in a folder of its own. */
export function commandHandler({ command, args, stdout, killAfterMs, env }: Command) {
  return async function* (_input: unknown, run: Run): AsyncGenerator<unknown, unknown, undefined> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'nowserving-')));
    let group: ProcessGroup | undefined;
    const stop = (): void => group?.end(killAfterMs);
    try {
      group = await ProcessGroup.start({
        command,
        args,
        cwd: folder,
        env: environmentOf(process.env, env, run, folder),
        input: run.inputText,
      });
      if (run.signal.aborted) stop();
      else run.signal.addEventListener('abort', stop);
      logLines(group.stderr, run);
      const reader = readerOf(stdout, run);
      for await (const chunk of chunksOf(group.stdout)) yield* reader.push(chunk);
      yield* reader.end();
      const failed = errorOf(await group.exited);
      if (failed !== undefined) throw reader.error ?? failed;
      if (reader.error !== undefined) throw reader.error;
      if (!isCancelled(run.signal)) run.signal.throwIfAborted();
      const output = reader.output();
      if (output === undefined) return undefined;
      return new JsonText(await withUploads(output, folder, (name, path) => run.upload(name, path)));
    } finally {
      run.signal.removeEventListener('abort', stop);
      stop();
      await group?.exited;
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  };
}

/** A cancelled run may still return its output. A run that is repeated elsewhere must not end with half of it. */
const isCancelled = ({ reason }: AbortSignal): boolean =>
  reason instanceof Stopped && reason.reason === 'cancelled';

/** Logs each line of stderr. Updates of progress bars, which end with a carriage return, are lines too. */
function logLines(stderr: Readable, run: Pick<Run, 'log'>): void {
  const lines = new Lines(/\r\n|\n|\r/, maxLogLine);
  const log = (line: string): void => run.log(line, 'INFO', 'stderr');
  stderr.on('data', (chunk: Buffer) => lines.push(chunk).forEach(log));
  stderr.on('end', () => lines.end().forEach(log));
}

/** A pipe that had to be cut counts as ended. */
async function* chunksOf(stdout: Readable): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of stdout) yield chunk as Buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}
