import { piecesOf, type EventSender, type LogLevel } from './event-sender.js';
import { Away, Fail } from './failures.js';
import { jsonOf, JsonText } from './json-text.js';
import type { Handler, Run } from './types.js';

const maxMessageLength = 8_192;

/** Runs a handler to its end. Values that it yields are deltas. undefined: the deltas are the output. */
export async function execute(
  handler: Handler,
  input: unknown,
  run: Run,
  room: () => Promise<void>,
): Promise<unknown> {
  const output = await outputOf(await handler(input, run), run, room);
  if (output instanceof Away) throw output;
  // The deltas of a run that was stopped are not its whole output.
  if (output === undefined) run.signal.throwIfAborted();
  return output;
}

/** Returns JSON text; undefined becomes null. */
export function outputText(output: unknown): string {
  try {
    return jsonOf(output ?? null);
  } catch (error) {
    throw new Fail(`The output is not a JSON value: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}

async function outputOf(result: unknown, run: Run, room: () => Promise<void>): Promise<unknown> {
  const iterator = iteratorOf(result);
  if (iterator === undefined) return result;
  try {
    for (;;) {
      const { done, value } = await iterator.next();
      if (done === true) return value;
      run.signal.throwIfAborted();
      run.delta(value);
      await room();
    }
  } finally {
    await iterator.return?.(undefined);
  }
}

/** The methods of a run that only emit events. */
export function voiceOf(add: EventSender['add']): Pick<Run, 'log' | 'progress' | 'usage' | 'delta'> {
  return {
    log(message: unknown, level: LogLevel = 'INFO', source) {
      const text = String(message).slice(0, maxMessageLength);
      add({ type: 'log', level, ...(source && { source }), message: text });
    },
    progress(value, message) {
      if (!(value >= 0 && value <= 1)) throw new TypeError(`Progress must be from 0 to 1, not ${value}.`);
      add({ type: 'progress', value, ...(message !== undefined && { message }) });
    },
    usage(used) {
      add({ type: 'usage', usage: used });
    },
    delta(value) {
      const delta = typeof value === 'string' ? value : new JsonText(jsonOf(value));
      for (const piece of piecesOf(delta)) add({ type: 'delta', delta: piece });
    },
  };
}

/** undefined: the value is an output. An array is one, too. */
function iteratorOf(
  value: unknown,
): AsyncIterator<unknown, unknown> | Iterator<unknown, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Symbol.asyncIterator in value)
    return (value as AsyncIterable<unknown, unknown>)[Symbol.asyncIterator]();
  if (Symbol.iterator in value && 'next' in value) return value as Iterator<unknown, unknown>;
  return undefined;
}
