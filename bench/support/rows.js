import { medianOf } from './rounds.js';
import { median, standardError } from './stats.js';

/**
 * One line of the table.
 * @typedef {object} Row
 * @property {string} figure the measured quantity, with its unit
 * @property {number} value
 * @property {string} [against] the floor or peer
 * @property {number} [base] the value of the floor or peer
 * @property {number} [ratio] value / base
 * @property {number} [error] the ratio's standard error, from turn to turn
 * @property {string} [bar]
 * @property {boolean} [met]
 * @property {boolean} [grossFall] missed by so much that the short form fails
 * @property {string} [note]
 * @property {boolean} [shown] in docs/performance.md although it has no bar
 */

/**
 * @typedef {object} Bar
 * @property {number} [least] either this
 * @property {number} [most] or this
 * @property {boolean} [tail] of few samples, which are imprecise: never a gross fall
 */

/**
 * A figure as a ratio against a floor or peer of the same run; without `bar` it is only reported.
 * @param {string} figure
 * @param {number} value
 * @param {string} against
 * @param {number} base
 * @param {Bar} [bar]
 * @returns {Row}
 */
export function ratioRow(figure, value, against, base, bar) {
  const ratio = value / base;
  return { figure, value, against, base, ratio, ...judge(ratio, bar, ' ×') };
}

/**
 * Compares the median turn with that of a floor or peer; the error is how much their ratio differs from turn to turn.
 * @param {string} figure
 * @param {object[]} turns
 * @param {string} against
 * @param {object[]} floor the turns beside them
 * @param {{ field?: string, bar?: Bar }} [options]
 * @returns {Row}
 */
export function turnsRow(figure, turns, against, floor, { field = 'perSecond', bar } = {}) {
  const ratios = turns.map((turn, i) => turn[field] / floor[i][field]);
  const row = ratioRow(figure, medianOf(turns, field), against, medianOf(floor, field), bar);
  return { ...row, error: standardError(ratios) };
}

/**
 * Compares the median of all samples with that of a peer; the error is how much the turns' medians differ.
 * @param {string} figure
 * @param {number[][]} turns
 * @param {string} against
 * @param {number[][]} floor the turns beside them
 * @param {Bar} [bar]
 * @returns {Row}
 */
export function samplesRow(figure, turns, against, floor, bar) {
  const ratios = turns.map((samples, i) => median(samples) / median(floor[i]));
  const row = ratioRow(figure, median(turns.flat()), against, median(floor.flat()), bar);
  return { ...row, error: standardError(ratios) };
}

/**
 * Compares the service with a bare floor that keeps limits as well; only the full form measures it.
 * @param {string} figure
 * @param {Record<string, object[]>} measured
 * @returns {Row[]}
 */
export function limitedPeerRows(figure, { service, postgres, redis }) {
  if (postgres === undefined) return [];
  return [
    shown(turnsRow(figure, service, 'bare + limits in PostgreSQL', postgres)),
    redis === undefined
      ? missingRow(`${figure} against bare + limits in Redis`, 'redis-server is not installed')
      : shown(turnsRow(figure, service, 'bare + limits in Redis', redis)),
  ];
}

/** Marks a row for docs/performance.md, which otherwise shows only rows with a bar. */
export function shown(row) {
  return { ...row, shown: true };
}

/**
 * A figure with a bar of its own.
 * @param {string} figure
 * @param {number} value
 * @param {Bar} [bar]
 * @returns {Row}
 */
export function plainRow(figure, value, bar) {
  return { figure, value, ...judge(value, bar, '') };
}

/**
 * Processor time per answer, reported only.
 * @param {string} what the name of one answer
 * @param {{ processUs: number, postgresUs: number }[]} measured
 * @param {{ processUs: number, postgresUs: number }[]} floor
 * @param {string} against
 * @returns {Row[]}
 */
export function cpuRows(what, measured, floor, against) {
  const row = (figure, field) => turnsRow(figure, measured, against, floor, { field });
  return [row(`CPU µs a ${what}, Node`, 'processUs'), row(`CPU µs a ${what}, PostgreSQL`, 'postgresUs')];
}

/**
 * A promise that is met or not.
 * @param {string} figure
 * @param {boolean} met
 * @param {string} [note]
 * @returns {Row}
 */
export function promiseRow(figure, met, note) {
  return {
    figure,
    value: met ? 1 : 0,
    bar: 'holds',
    met,
    grossFall: !met,
    ...(note === undefined ? {} : { note }),
  };
}

/**
 * @param {string} figure
 * @param {string} note
 * @returns {Row}
 */
export function missingRow(figure, note) {
  return { figure, value: NaN, note };
}

/** A measurement that failed misses its bar. */
function judge(reached, bar, unit) {
  if (bar?.least !== undefined) {
    return {
      bar: `≥ ${bar.least}${unit}`,
      met: reached >= bar.least,
      grossFall: bar.tail !== true && !(reached >= bar.least / 2),
    };
  }
  if (bar?.most !== undefined) {
    return {
      bar: `≤ ${bar.most}${unit}`,
      met: reached <= bar.most,
      grossFall: bar.tail !== true && !(reached <= bar.most * 2),
    };
  }
  return {};
}
