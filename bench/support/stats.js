/** @param {number[]} values */
export function median(values) {
  return percentile(values, 50);
}

/**
 * Interpolates linearly between the two nearest values.
 * @param {number[]} values
 * @param {number} percent
 */
export function percentile(values, percent) {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const place = ((sorted.length - 1) * percent) / 100;
  const low = sorted[Math.floor(place)];
  const high = sorted[Math.ceil(place)];
  return low + (high - low) * (place - Math.floor(place));
}

/** @param {number[]} values */
export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Returns the standard error of the mean of independent samples.
 * @param {number[]} values
 */
export function standardError(values) {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}

/**
 * Returns how much a series grows over its whole length, as a fraction of its mean, by a least squares line.
 * @param {number[]} values measured at even intervals
 */
export function relativeGrowth(values) {
  const count = values.length;
  const meanX = (count - 1) / 2;
  const meanY = mean(values);
  let above = 0;
  let below = 0;
  values.forEach((value, x) => {
    above += (x - meanX) * (value - meanY);
    below += (x - meanX) ** 2;
  });
  return meanY === 0 ? 0 : ((above / below) * (count - 1)) / meanY;
}
