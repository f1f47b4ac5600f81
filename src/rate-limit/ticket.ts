import type { DomainError } from '../errors/domain-error.js';
import type { Admission } from './admission.js';
import type { Claimant, CountedRow, RateLimitStorage } from './rate-limit-storage.js';

/** A call that is yet to be counted: with a statement of its own, or along with the one that writes its submission. */
export class Ticket {
  /** What became of it, once that is known. */
  admission: Admission | undefined;
  private sentAt: number | undefined;

  constructor(
    private readonly storage: RateLimitStorage,
    private readonly claimant: Claimant,
    private readonly refusal: (admission: Admission) => DomainError,
  ) {}

  /** Nobody has begun to count it. */
  get isOpen(): boolean {
    return this.admission === undefined && this.sentAt === undefined;
  }

  /** Counts it with a statement of its own. */
  async count(): Promise<Admission> {
    this.sentAt = performance.now();
    return (this.admission = await this.storage.count(this.claimant));
  }

  /** The same; throws the refusal. */
  async pay(): Promise<void> {
    this.judge(await this.count());
  }

  /** The arguments of `rate_admit_one`, for who counts it along. */
  claim(): { subject: string; routeClass: string; windowsMs: number[]; limits: number[] } {
    this.sentAt = performance.now();
    const { subject, routeClass, limits } = this.claimant;
    return {
      subject,
      routeClass,
      windowsMs: limits.map(({ windowMs }) => windowMs),
      limits: limits.map(({ limit }) => limit),
    };
  }

  /** What `rate_admit_one` answered; throws the refusal. */
  settle(answer: CountedRow): void {
    this.admission = this.storage.counted(this.claimant, answer, this.sentAt!);
    this.judge(this.admission);
  }

  private judge(admission: Admission): void {
    if (!admission.admitted) throw this.refusal(admission);
  }
}
