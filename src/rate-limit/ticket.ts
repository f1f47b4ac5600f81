import type { DomainError } from '../errors/domain-error.js';
import type { Admission } from './admission.js';
import { admitAlong, alongValues, type AlongRow } from './queries/admit-along.js';
import type { Claimant, Expected, RateLimitStorage } from './rate-limit-storage.js';

/** A call that is yet to be counted: with a statement of its own, or along with the one that writes its submission. */
export class Ticket {
  /** What became of it, once that is known. */
  admission: Admission | undefined;
  private sentAt = 0;
  private expected: Expected | undefined;

  constructor(
    private readonly storage: RateLimitStorage,
    private readonly claimant: Claimant,
    private readonly refusal: (admission: Admission) => DomainError,
  ) {}

  /** Whether it is better counted with a statement of its own. */
  get goesApart(): boolean {
    return this.storage.countsApart(this.claimant);
  }

  /** Counts it with a statement of its own. */
  async count(): Promise<Admission> {
    return (this.admission = await this.storage.count(this.claimant));
  }

  /** The same, unless it is counted; throws the refusal. */
  async pay(): Promise<void> {
    this.judge(this.admission ?? (await this.count()));
  }

  /** What counts it within another statement. */
  claim(): { ctes: typeof admitAlong; values: unknown[] } {
    this.sentAt = performance.now();
    this.expected = this.storage.expected(this.claimant);
    return { ctes: admitAlong, values: alongValues({ ...this.claimant, expected: this.expected }) };
  }

  /** The row of `toll` that it answered; throws the refusal. If it did not count, the call is yet to be counted. */
  settle(row: AlongRow): void {
    this.admission = this.storage.countedAlong(this.claimant, row, this.expected, this.sentAt);
    if (this.admission !== undefined) this.judge(this.admission);
  }

  private judge(admission: Admission): void {
    if (!admission.admitted) throw this.refusal(admission);
  }
}
