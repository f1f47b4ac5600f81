import { Injectable } from '@nestjs/common';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** How deliveries are tried; tests have others. */
@Injectable()
export class SendingTerms {
  /** For a whole try, from the look-up of the name to the status of the answer. */
  timeoutMs = 15 * second;
  /** A claimed delivery that is not heard of for so long is another node's. */
  leaseMs = 30 * second;
  /** Between the tries; the first is at once. */
  delaysMs = [
    5 * second,
    minute,
    5 * minute,
    30 * minute,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
  ];
  /** The longest that a receiver may put us off by Retry-After. */
  maxRetryAfterMs = 24 * hour;
  maxPayloadBytes = 256 * 1024;
  /** What a stop waits for tries under way. */
  stopGraceMs = 2 * second;
  /** Tries at once, of a node: in all and to one host. */
  maxTries = 128;
  maxTriesOfHost = 16;
}
