import type { Config } from './config.js';

const hourMs = 3_600_000;

/**
 * Returns a sentence for each setting that is so small that its unit was probably forgotten: `RETENTION=30` is 30
 * seconds, after which results are deleted.
 */
export function warningsOfSmallSettings(config: Config): string[] {
  const durations = [
    ['RETENTION', config.retentionMs, '30d'],
    ['RETENTION_PAYLOAD', config.retentionPayloadMs, '7d'],
  ] as const;
  const sizes = [
    ['MAX_BODY_BYTES', config.maxBodyBytes, '10m'],
    ['MAX_OUTPUT_BYTES', config.maxOutputBytes, '32m'],
    ['MAX_FILE_BYTES', config.maxFileBytes, '1g'],
  ] as const;
  return [
    ...durations
      .filter(([, ms]) => ms !== null && ms < hourMs)
      .map(
        ([name, ms, example]) =>
          `${name} is ${ms! / 1_000} s, so data is deleted soon after its request has completed. ` +
          `A number without a unit means seconds. If you meant another unit, write it, as in ${name}=${example}.`,
      ),
    ...sizes
      .filter(([, bytes]) => bytes < 1_024)
      .map(
        ([name, bytes, example]) =>
          `${name} is ${bytes} bytes. A number without a unit means bytes. ` +
          `If you meant another unit, write it, as in ${name}=${example}.`,
      ),
  ];
}
