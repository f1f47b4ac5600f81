import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Fail, Retry, Stopped, withLastWords } from '../failures.js';
import { JsonText } from '../json-text.js';
import type { Run } from '../types.js';
import { environmentOf } from './environment.js';
import { errorOf } from './exit-codes.js';
import { withLocalFiles } from './input-files.js';
import { Lines } from './lines.js';
import { LongLog } from './long-log.js';
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
  /** The working directory; undefined: the folder of the run. */
  cwd?: string;
  /** Files of the service that the input names are downloaded, and the input has their paths in place of their URLs. */
  files?: boolean;
}

/** Returns a handler that runs a command for each request, with a folder of its own. */
export function commandHandler({ command, args, stdout, killAfterMs, env, cwd, files = false }: Command) {
  return async function* (_input: unknown, run: Run): AsyncGenerator<unknown, unknown, undefined> {
    const folder = await newFolder('nowserving-');
    const inputFolder = files ? await newFolder('nowserving-input-') : undefined;
    const log = new LongLog((line, level, source) => run.log(line, level, source));
    let group: ProcessGroup | undefined;
    const stop = (): void => group?.end(killAfterMs);
    try {
      const { inputText } = run;
      const input = inputFolder === undefined ? inputText : await withLocalFiles(inputText, inputFolder, run);
      group = await ProcessGroup.start({
        command,
        args,
        cwd: cwd ?? folder,
        env: environmentOf(process.env, env, run, folder),
        input,
      });
      if (run.signal.aborted) stop();
      else run.signal.addEventListener('abort', stop);
      logLines(group.stderr, log);
      const reader = readerOf(stdout, run);
      for await (const chunk of chunksOf(group.stdout)) yield* reader.push(chunk);
      yield* reader.end();
      const exit = await group.exited;
      log.end();
      const failed = errorOf(exit, reader.error);
      if (failed !== undefined) throw failed;
      if (!isCancelled(run.signal)) run.signal.throwIfAborted();
      const output = reader.output();
      if (output === undefined) return undefined;
      return new JsonText(await withUploads(output, folder, (name, path) => run.upload(name, path)));
    } catch (error) {
      const isFailure = error instanceof Fail || error instanceof Retry;
      throw isFailure ? withLastWords(error, log.lastLine) : error;
    } finally {
      run.signal.removeEventListener('abort', stop);
      stop();
      await group?.exited;
      log.end();
      for (const path of [folder, inputFolder])
        if (path !== undefined) await rm(path, { recursive: true, force: true, maxRetries: 3 });
    }
  };
}

const newFolder = async (prefix: string): Promise<string> => realpath(await mkdtemp(join(tmpdir(), prefix)));

/** A cancelled run may still return its output. A run that is repeated elsewhere must not end with half of it. */
const isCancelled = ({ reason }: AbortSignal): boolean =>
  reason instanceof Stopped && reason.reason === 'cancelled';

/** Logs each line of stderr. Updates of progress bars, which end with a carriage return, are lines too. */
function logLines(stderr: Readable, log: LongLog): void {
  const lines = new Lines(/\r\n|\n|\r/, maxLogLine);
  const add = (line: string): void => log.add(line);
  stderr.on('data', (chunk: Buffer) => lines.push(chunk).forEach(add));
  // Also emitted for a pipe that had to be cut.
  stderr.on('close', () => lines.end().forEach(add));
}

/** A pipe that had to be cut counts as ended. */
async function* chunksOf(stdout: Readable): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of stdout) yield chunk as Buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}
