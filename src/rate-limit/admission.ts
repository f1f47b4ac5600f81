import { FieldTexts } from './rate-limit-fields.js';
import type { WindowState } from './window-state.js';

/** How all windows stand after a count, in which several calls may share. */
export class Standing {
  private texts: FieldTexts | undefined;

  constructor(readonly windows: readonly WindowState[]) {}

  /** The fields of an answer, made from texts that all calls of the count share. */
  fields(later: number): string[] {
    return (this.texts ??= new FieldTexts(this.windows)).fields(later);
  }
}

/** What became of one call. */
export class Admission {
  constructor(
    readonly admitted: boolean,
    private readonly standing: Standing,
    /** So many were counted together with this call and are admitted after it. */
    private readonly later = 0,
  ) {}

  /** As of this call. */
  get windows(): WindowState[] {
    return this.standing.windows.map((state) => ({ ...state, remaining: state.remaining + this.later }));
  }

  /** The fields of its answer: names and values in turns. */
  get fields(): string[] {
    return this.standing.fields(this.later);
  }

  /** The windows that refuse: those without room. */
  get exhausted(): WindowState[] {
    return this.windows.filter(({ remaining }) => remaining === 0);
  }

  /** When a refused call may be admitted at the earliest. */
  get retryAfterMs(): number {
    return Math.max(0, ...this.exhausted.map(({ resetMs }) => resetMs));
  }

  /** `Retry-After` of a refusal: a caller alone with its key who waits that long is admitted. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.retryAfterMs / 1_000));
  }
}
