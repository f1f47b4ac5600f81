#!/usr/bin/env node
import { existsSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { help, parseArguments, UsageError } from './command/arguments.js';
import { commandHandler } from './command/command-handler.js';
import { sayOnStderr, serve } from './serve.js';

const usageExit = 64;
const orphanMs = 500;

/**
 * Fires when the terminal is gone, which would end the worker without its commands, or the parent process. npx ends on a
 * signal without passing it on, so its worker gets another parent.
 */
function orphaned(isFromNpx: boolean): AbortSignal {
  const gone = new AbortController();
  process.on('SIGHUP', () => gone.abort());
  if (!isFromNpx) return gone.signal;
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    gone.abort();
    clearInterval(timer);
  }, orphanMs);
  timer.unref();
  return gone.signal;
}

async function main(): Promise<void> {
  const given = parseArguments(process.argv.slice(2));
  if (given === undefined) return void process.stdout.write(`${help}\n`);
  const { model, command, options } = given;
  const { cwd } = command;
  if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`--cwd must be a folder, and ${cwd} is none.`);
  for (const arg of command.args) {
    if (arg.startsWith('-') || isAbsolute(arg) || !existsSync(arg)) continue;
    if (cwd !== undefined && existsSync(resolve(cwd, arg))) continue;
    sayOnStderr(`"${arg}" is not found from the folder of a run. Write ${resolve(arg)}`);
  }
  // A path is relative to our folder, not to the temporary folder of a run. A name without a slash is looked up in
  // PATH.
  const program = command.command.includes('/') ? resolve(command.command) : command.command;
  process.stderr.on('error', () => undefined); // nobody reads it any more
  const signal = orphaned(process.env['npm_command'] === 'exec');
  try {
    await serve(model, commandHandler({ ...command, command: program }), { ...options, signal });
  } finally {
    // A command that is slow to end keeps the process. A signal now ends both: the exit kills the command.
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      process.on(name, () => process.exit(128 + constants.signals[name]));
  }
}

main().catch((error: unknown) => {
  const isUsage = error instanceof UsageError;
  sayOnStderr(`${(error as Error).message}${isUsage ? ' See nowserving --help.' : ''}`);
  process.exitCode = isUsage ? usageExit : 1;
});
