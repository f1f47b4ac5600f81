import { tryOnce } from './try-once.js';
import type { Handler, Parsed, ServeOptions } from './types.js';
import { Worker } from './worker.js';

const graceMs = 25_000;
const stuckMs = 30_000;

/**
 * Runs the requests of one model, or of each model of a map, until SIGTERM or SIGINT. Then resolves when its runs have
 * ended or were handed back. A second signal hands them back at once. In a program started with `--try '{…}'`, runs
 * that input once without a service.
 */
export function serve<Input = Parsed>(
  model: string,
  handler: Handler<Input>,
  options?: ServeOptions,
): Promise<void>;
export function serve(models: Readonly<Record<string, Handler>>, options?: ServeOptions): Promise<void>;
export async function serve(
  model: string | Readonly<Record<string, Handler>>,
  second?: Handler | ServeOptions,
  third?: ServeOptions,
): Promise<void> {
  const isOne = typeof model === 'string';
  if (isOne !== (typeof second === 'function')) {
    throw new TypeError('Give serve a model and its handler, or a map from models to handlers.');
  }
  const options = ((isOne ? third : second) ?? {}) as ServeOptions;
  const handlers = new Map(isOne ? [[model, second as Handler]] : Object.entries(model));
  const input = triedInput(process.argv);
  if (input !== undefined) return tryOnce(handlers, input);
  await work(handlers, options);
}

async function work(handlers: ReadonlyMap<string, Handler>, given: ServeOptions): Promise<void> {
  const { concurrency = 1, grace = graceMs, stuck = stuckMs, ready, say = sayOnStderr } = given;
  const { url = process.env['NOWSERVING_URL'], key = process.env['NOWSERVING_KEY'] } = given;
  if (url === undefined || url === '') {
    throw new TypeError('The address of the service is missing. Set NOWSERVING_URL, or the option "url".');
  }
  if (typeof concurrency !== 'function' && !(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new TypeError(`The concurrency must be a whole number of at least 1, not ${concurrency}.`);
  }
  if (typeof ready === 'string' && !/^https?:\/\/[^/]/.test(ready)) {
    throw new TypeError('The URL of the option "ready" must begin with http:// or https://.');
  }
  if (handlers.size === 0) throw new TypeError('There is no model to serve.');
  const worker = new Worker(handlers, { ...given, url, key, concurrency, grace, stuck, say, exit });
  const drain = (): void => worker.drain('The worker finishes its runs and claims no more.');
  const onSignal = (): void => (worker.isDraining ? worker.stop('The worker stops.') : drain());
  const signals = ['SIGTERM', 'SIGINT'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  given.signal?.addEventListener('abort', drain);
  if (given.signal?.aborted === true) drain();
  try {
    say(`Serving ${[...handlers.keys()].join(', ')} from ${url}, ${worker.limits.runs} at once.`);
    await worker.work();
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    given.signal?.removeEventListener('abort', drain);
  }
}

/** Returns the value of `--try '{…}'` or `--try='{…}'`. Arguments after `--` belong to a command. */
function triedInput(argv: readonly string[]): string | undefined {
  const args = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const at = args.findIndex((arg) => arg === '--try' || arg.startsWith('--try='));
  if (at === -1) return undefined;
  return args[at]!.startsWith('--try=') ? args[at]!.slice('--try='.length) : (args[at + 1] ?? '');
}

const exit = (code: number): void => process.exit(code);

export function sayOnStderr(line: string): void {
  process.stderr.write(`nowserving: ${line}\n`);
}
