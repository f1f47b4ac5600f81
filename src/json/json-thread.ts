import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { DomainError } from '../errors/domain-error.js';
import { InputSchemas } from '../models/input-schemas.js';
import { type JobKind, type Jobs, type PlainError, runs, toPlain, type Validate } from './jobs.js';

/** The models' input schemas as JSON text, by model id. */
export type Schemas = Readonly<Record<string, string>>;

export interface ThreadTask {
  kind: JobKind;
  job: Jobs[JobKind];
  bytes: Uint8Array;
  /** Sent only if they changed. */
  schemas: Schemas | undefined;
}

export type ThreadMessage =
  | 'ready'
  /** Parsing is done and the check against a schema begins. */
  | 'checking'
  | { result: unknown; bytes: Uint8Array }
  | { refusal: PlainError }
  | { fault: Error };

/**
 * Lowers the thread's priority, so that the event loop and the database go first where cores are few. Only on Linux
 * does a thread have its own priority.
 */
const niceness = 10;
if (process.platform === 'linux') setPriority(niceness);

/** Compiles schemas on their first use. An unchanged schema is compiled only once. */
class ThreadSchemas {
  hasBegun = false;
  private readonly compiler = new InputSchemas();
  private schemas: Schemas = {};
  private compiled = new Map<string, ReturnType<InputSchemas['compile']>['validate']>();

  set(schemas: Schemas): void {
    this.schemas = schemas;
    const kept = new Set(Object.values(schemas));
    for (const text of this.compiled.keys()) if (!kept.has(text)) this.compiled.delete(text);
  }

  readonly validate: Validate = (modelId, input) => {
    const text = Object.hasOwn(this.schemas, modelId) ? this.schemas[modelId] : undefined;
    if (text === undefined) return undefined;
    const known = this.compiled.get(text);
    const validate = known ?? this.compiler.compile(JSON.parse(text) as Record<string, unknown>).validate;
    this.compiled.set(text, validate);
    if (!this.hasBegun) send('checking');
    this.hasBegun = true;
    return validate(input);
  };
}

const schemas = new ThreadSchemas();

parentPort!.on('message', ({ kind, job, bytes, schemas: changed }: ThreadTask) => {
  if (changed !== undefined) schemas.set(changed);
  schemas.hasBegun = false;
  try {
    const run = runs[kind] as (job: unknown, bytes: Buffer, validate: Validate) => [unknown, Buffer];
    const [result, back] = run(
      job,
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
      schemas.validate,
    );
    send({ result, bytes: back }, transferable(back));
  } catch (error) {
    if (error instanceof DomainError) send({ refusal: toPlain(error) });
    else send({ fault: error as Error });
  }
});

send('ready');

function send(message: ThreadMessage, handedOver: ArrayBuffer[] = []): void {
  parentPort!.postMessage(message, handedOver);
}

/** Small Buffers share their memory with others, so they cannot be transferred. */
function transferable({ buffer, length }: Buffer): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && length > Buffer.poolSize ? [buffer] : [];
}
