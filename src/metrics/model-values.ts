import { maxModels } from './registry.js';

export type ModelValue = readonly [labels: readonly string[], value: number];

/**
 * Returns one value for each of the first models, and `other` for the rest: their sum or their maximum. null: the model
 * has no value.
 */
export function modelValues(
  models: readonly { id: string }[],
  value: (modelId: string) => number | null,
  ofRest: 'sum' | 'max' = 'sum',
): ModelValue[] {
  const known = (some: readonly { id: string }[]): ModelValue[] =>
    some.flatMap(({ id }) => {
      const number = value(id);
      return number === null ? [] : [[[id], number] as const];
    });
  const first = known(models.slice(0, maxModels));
  const rest = known(models.slice(maxModels)).map(([, number]) => number);
  if (rest.length === 0) return first;
  const other = ofRest === 'sum' ? rest.reduce((sum, number) => sum + number, 0) : Math.max(...rest);
  return [...first, [['other'], other]];
}
