import { Allow, MaxLength, ValidateBy } from 'class-validator';
import { parseDuration } from '../tools/duration.js';
import { type Class, Parsed } from '../tools/validation.js';

/** The taker of a model's requests: nodes run them, or workers claim them over HTTP and no node runs any. */
export type Taker = 'nodes' | 'workers';

/** How a server is asked whether it is ready to run. */
export interface HealthCheck {
  /** Path and query at the origin of the address. */
  readonly path: string;
  /** Milliseconds from one check to the next while the server is not ready. */
  readonly everyMs: number;
}

/** The `runner` of a model. Each kind adds its own options, with their rules. */
export class RunnerOptions {
  @Allow() kind!: string;

  /** Returns the text for the `model` table. */
  label(): string {
    return this.kind;
  }

  get takenBy(): Taker {
    return 'nodes';
  }

  /**
   * Returns whether its runs continue at a server without the connection that began them, so that any node can follow
   * them.
   */
  get follows(): boolean {
    return false;
  }

  /**
   * Returns whether a run that another node takes over may start again from its beginning at the server. It then has
   * its whole timeout again.
   */
  get mayBeginAnew(): boolean {
    return false;
  }

  /** Returns the name of the preset that says how its server is called; null: there is none. */
  presetName(): string | null {
    return null;
  }

  /** The check that each of its addresses must pass before a run is sent there; undefined: none. */
  get healthCheck(): HealthCheck | undefined {
    return undefined;
  }

  /** Returns what is wrong with the options as a whole. */
  fault(): string | undefined {
    return undefined;
  }

  /** Returns what is sent with its runs and must stay secret, such as the values of header fields. */
  secrets(): readonly string[] {
    return [];
  }

  /** Returns the URLs of its runs, each of which is sent to one of them; none: runs stay in this process. */
  addresses(): readonly string[] {
    return [];
  }
}

export interface RunnerKind {
  readonly kind: string;
  readonly Options: Class<RunnerOptions>;
}

export function Required(): PropertyDecorator {
  const validate = (value: unknown): boolean => value !== undefined;
  return ValidateBy({ name: 'isDefined', validator: { validate } }, { message: 'is missing' });
}

export function Text(maxLength: number): PropertyDecorator {
  return MaxLength(maxLength, { message: `expected a text of at most ${maxLength} characters` });
}

/** Milliseconds of a duration from 1 ms to `max`, itself a duration. */
export function Duration(max: string): PropertyDecorator {
  const maxMs = parseDuration(max);
  return Parsed((value: unknown) => {
    const ms = parseDuration(
      typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '',
    );
    if (ms < 1 || ms > maxMs) throw new Error(`expected a duration from 1ms to ${max}`);
    return ms;
  });
}
