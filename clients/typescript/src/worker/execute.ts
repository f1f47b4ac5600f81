import { piecesOf, type EventSender, type LogLevel } from './event-sender.js';
import { Fail } from './failures.js';
import { jsonOf, JsonText } from './json-text.js';
import type { Handler, Run } from './types.js';

const maxMessageLength = 8_192;

/** Runs a handler to its end; what it yields are deltas. Undefined: the deltas are the output. */
export async function execute(
  handler: Handler,
  input: unknown,
  run: Run,
  room: () => Promise<void>,
): Promise<unknown> {
  const output = await outputOf(await handler(input, run), run, room);
  // What was said until the run had to stop is not all that it would have said.
  if (output === undefined) run.signal.throwIfAborted();
  return output;
}

/** As JSON text; nothing is null. */
export function outputText(output: unknown): string {
  try {
    return jsonOf(output ?? null);
  } catch (error) {
    throw new Fail(`The output is no JSON value: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}

async function outputOf(result: unknown, run: Run, room: () => Promise<void>): Promise<unknown> {
  if (!isIterable(result)) return result;
  const iterator = result[Symbol.asyncIterator]();
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

/** The part of a run that only says something. */
export function voiceOf(add: EventSender['add']): Pick<Run, 'log' | 'progress' | 'delta'> {
  return {
    log(message: unknown, level: LogLevel = 'INFO', source) {
      const text = String(message).slice(0, maxMessageLength);
      add({ type: 'log', level, ...(source && { source }), message: text });
    },
    progress(value, message) {
      if (!(value >= 0 && value <= 1)) throw new TypeError(`Progress is from 0 to 1, not ${value}.`);
      add({ type: 'progress', value, ...(message !== undefined && { message }) });
    },
    delta(value) {
      const delta = typeof value === 'string' ? value : new JsonText(jsonOf(value));
      for (const piece of piecesOf(delta)) add({ type: 'delta', delta: piece });
    },
  };
}

function isIterable(value: unknown): value is AsyncIterable<unknown, unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
