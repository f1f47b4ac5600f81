import type { DomainError } from '../errors/domain-error.js';
import type { Admission } from './admission.js';
import type { Claimant, CountedRow, RateLimitStorage } from './rate-limit-storage.js';

/** `granted` is null where somebody else was counting for the same subject. */
type MaybeCounted = Omit<CountedRow, 'granted'> & { granted: number | null };

/** A call that is yet to be counted: with a statement of its own, or along with the one that writes its submission. */
export class Ticket {
  /** What became of it, once that is known. */
  admission: Admission | undefined;
  private sentAt = 0;

  constructor(
    private readonly storage: RateLimitStorage,
    private readonly claimant: Claimant,
    private readonly refusal: (admission: Admission) => DomainError,
  ) {}

  /** Counts it with a statement of its own. */
  async count(): Promise<Admission> {
    return (this.admission = await this.storage.count(this.claimant));
  }

  /** The same; throws the refusal. */
  async pay(): Promise<void> {
    this.judge(await this.count());
  }

  /** The arguments of `rate_admit_alone`, for who counts it along. */
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

  /** What `rate_admit_alone` answered; throws the refusal. False: it did not count, and the call is yet to be counted. */
  settle({ granted, ...windows }: MaybeCounted): boolean {
    if (granted === null) return false;
    this.admission = this.storage.counted(this.claimant, { granted, ...windows }, this.sentAt);
    this.judge(this.admission);
    return true;
  }

  private judge(admission: Admission): void {
    if (!admission.admitted) throw this.refusal(admission);
  }
}
