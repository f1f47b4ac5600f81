import { Allow } from 'class-validator';
import type { Class } from '../tools/validation.js';

/** What a model's `runner` says. Each kind adds its own options, with their rules. */
export class RunnerOptions {
  @Allow()
  kind!: string;

  /** As the `model` table has it. */
  label(): string {
    return this.kind;
  }
}

export interface RunnerKind {
  readonly kind: string;
  readonly Options: Class<RunnerOptions>;
}
