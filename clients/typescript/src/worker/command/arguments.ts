import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ServeOptions } from '../types.js';
import type { Command } from './command-handler.js';
import { nameFault } from './environment.js';
import { type StdoutForm, stdoutForms } from './stdout.js';

export const help = `nowserving work --model <id> [options] -- <command> [arguments]

Runs a command for each request of a model. The command reads the input from its standard input
and writes the output to its standard output. Its standard error goes to the log of the request.
NOWSERVING_URL is the address of the service, NOWSERVING_KEY a key with the scope "work".

  --model <id>         the model whose requests are run (required)
  --concurrency <n>    how many runs at once (1)
  --stdout <form>      json: one JSON value (default); ndjson: lines of log, progress, delta,
                       output and error; text: streamed, and joined as the output
  --kill-after <time>  time from SIGTERM to SIGKILL when a run must stop (10s)
  --grace <time>       time that runs have to end when the worker must stop (25s)
  --cwd <folder>       the working directory of the command, in place of a new folder
  --files              files of the service that the input names are downloaded, and the input has
                       their paths in place of their URLs
  --ready <url>        nothing is claimed until this URL is answered with a 2xx status
  --env <name>         passes an environment variable on to the command; may be repeated
  --url <url>          the address of the service, in place of NOWSERVING_URL
  --name <name>        the name of the worker that operators see (the host's name)
  --label <key=value>  a label of the worker; may be repeated
  --try <json>         runs this input once, without a service
  --help               prints this text

The command runs in a new folder, without a shell, so give absolute paths. Of a long standard error
the log has the first and the last lines; operators see the last line in a failure. Exit codes: 0: success,
with an output; 64, 65, 66: the request fails and is not tried again; 78, 126, 127: the request is
handed back and the worker stops; others: the request may be tried again.`;

export class UsageError extends Error {}

export interface WorkArguments {
  model: string;
  command: Command;
  options: ServeOptions;
}

/** Parses the arguments of `nowserving`, without the program's own name. undefined: help is requested. */
export function parseArguments(argv: readonly string[]): WorkArguments | undefined {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const [verb, ...rest] = argv.slice(0, end);
  const { values, positionals } = parsed(rest);
  if (values.help === true || verb === undefined || verb === '--help' || verb === 'help') return undefined;
  if (verb !== 'work') throw new UsageError(`There is no command "${verb}". The only command is "work".`);
  if (positionals.length > 0)
    throw new UsageError(`"${positionals[0]}" is not an option. Write the command after --.`);
  const [command, ...args] = argv.slice(end + 1);
  if (values.model === undefined) throw new UsageError('The model is missing. Give --model <id>.');
  if (command === undefined) throw new UsageError('The command is missing. Write it after --.');
  const env = values.env ?? [];
  const fault = env.map(nameFault).find((one) => one !== undefined);
  if (fault !== undefined) throw new UsageError(fault);
  const killAfterMs = durationOf('kill-after', values['kill-after'] ?? '10s');
  const stdout = formOf(values.stdout ?? 'json');
  return {
    model: values.model,
    command: {
      command,
      args,
      stdout,
      killAfterMs,
      env,
      ...(values.cwd !== undefined && { cwd: resolve(values.cwd) }),
      ...(values.files === true && { files: true }),
    },
    options: {
      concurrency: countOf(values.concurrency ?? '1'),
      grace: durationOf('grace', values.grace ?? '25s'),
      // A command that ignores SIGTERM must be killed, and its files uploaded, before its run counts as stuck.
      stuck: Math.max(30_000, 2 * killAfterMs + 10_000),
      labels: Object.fromEntries((values.label ?? []).map(labelOf)),
      ...(values.url !== undefined && { url: values.url }),
      ...(values.name !== undefined && { name: values.name }),
      ...(values.ready !== undefined && { ready: values.ready }),
    },
  };
}

function parsed(args: string[]) {
  const text = { type: 'string' } as const;
  const texts = { type: 'string', multiple: true } as const;
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        model: text,
        concurrency: text,
        stdout: text,
        'kill-after': text,
        cwd: text,
        ready: text,
        files: { type: 'boolean' },
        grace: text,
        env: texts,
        url: text,
        name: text,
        label: texts,
        try: text,
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function formOf(text: string): StdoutForm {
  const form = stdoutForms.find((one) => one === text);
  if (form === undefined) throw new UsageError(`--stdout must be json, ndjson or text, not "${text}".`);
  return form;
}

function countOf(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new UsageError(`--concurrency must be a number of at least 1, not "${text}".`);
  return Number(text);
}

const unitsMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Returns milliseconds. A bare number is in seconds. */
function durationOf(option: string, text: string): number {
  const [, count, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  if (count === undefined)
    throw new UsageError(`--${option} must be a time such as 500ms, 10s or 2m, not "${text}".`);
  return Number(count) * unitsMs[unit]!;
}

function labelOf(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--label must be key=value, not "${text}".`);
  return [text.slice(0, at), text.slice(at + 1)];
}
