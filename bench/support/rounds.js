import { median } from './stats.js';

/**
 * Measures several subjects in turns (A B A B …), so that other work of the machine affects them alike.
 * Every other round goes backwards, so that no subject always follows the same neighbour.
 * @template T
 * @param {number} rounds
 * @param {Record<string, () => Promise<T>>} subjects
 * @returns {Promise<Record<string, T[]>>} the measurements of each subject
 */
export async function interleave(rounds, subjects) {
  const measured = Object.fromEntries(Object.keys(subjects).map((name) => [name, /** @type {T[]} */ ([])]));
  for (let round = 0; round < rounds; round++) {
    const names = Object.keys(subjects);
    if (round % 2 === 1) names.reverse();
    for (const name of names) measured[name].push(await subjects[name]());
  }
  return measured;
}

/**
 * @template {object} T
 * @param {T[]} measurements
 * @param {keyof T} field
 */
export function medianOf(measurements, field) {
  return median(measurements.map((measurement) => Number(measurement[field])));
}
