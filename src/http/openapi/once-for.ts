import type { ShownModel } from './served-document.js';

/**
 * Makes the result again only when the models have changed, or after a failure. A model that has not changed is the
 * same object.
 */
export function onceFor<Made>(
  models: () => readonly ShownModel[],
  make: (shown: readonly ShownModel[]) => Promise<Made>,
): () => Promise<Made> {
  let last: { shown: readonly ShownModel[]; made: Promise<Made> } | undefined;
  return () => {
    const shown = models();
    const isSame = last?.shown.length === shown.length && last.shown.every((model, i) => model === shown[i]);
    if (last !== undefined && isSame) return last.made;
    const making = { shown, made: make(shown) };
    last = making;
    making.made.catch(() => {
      if (last === making) last = undefined;
    });
    return making.made;
  };
}
