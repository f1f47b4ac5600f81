import { Injectable } from '@nestjs/common';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** How deliveries are tried. Tests use other values. */
@Injectable()
export class SendingTerms {
  /** Limit of a whole try, from the lookup of the name to the status of the answer. */
  timeoutMs = 15 * second;
  /** A claimed delivery without a result for this long may be claimed by another node. */
  claimMs = 30 * second;
  /** Delays between the tries. The first try is made at once. */
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
  /** The longest delay that a receiver may ask for by Retry-After. */
  maxRetryAfterMs = 24 * hour;
  maxPayloadBytes = 256 * 1024;
  /** How long a stop waits for tries under way. */
  stopGraceMs = 2 * second;
  /** Tries of a node at once: in total and to one host. */
  maxTries = 128;
  maxTriesOfHost = 16;
}
