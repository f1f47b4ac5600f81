import { medianOf } from './rounds.js';

/**
 * One line of the table.
 * @typedef {object} Row
 * @property {string} figure what was measured, with its unit
 * @property {number} value
 * @property {string} [against] the floor or peer
 * @property {number} [base] what the floor or peer reached
 * @property {number} [ratio] value / base
 * @property {string} [bar]
 * @property {boolean} [met]
 * @property {boolean} [grossFall] missed so far that the short form fails
 * @property {string} [note]
 */

/**
 * @typedef {object} Bar
 * @property {number} [least] either this
 * @property {number} [most] or this
 * @property {boolean} [tail] of few samples, which say little: never a gross fall
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
 * Processor time by answer, reported only.
 * @param {string} what one answer is
 * @param {{ processUs: number, postgresUs: number }[]} measured
 * @param {{ processUs: number, postgresUs: number }[]} floor
 * @param {string} against
 * @returns {Row[]}
 */
export function cpuRows(what, measured, floor, against) {
  const row = (figure, field) => ratioRow(figure, medianOf(measured, field), against, medianOf(floor, field));
  return [row(`CPU µs a ${what}, Node`, 'processUs'), row(`CPU µs a ${what}, PostgreSQL`, 'postgresUs')];
}

/**
 * A promise that holds or not.
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

/** A measurement that did not come about misses its bar. */
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
