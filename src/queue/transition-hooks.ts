import type { RequestEvents } from './request-events.js';

/** The changes of state that a hook can follow, each under the name of its typed event. */
export type HookedEvent = Extract<keyof RequestEvents, 'request.started' | 'request.completed'>;

/**
 * A common table expression for what must follow from a change of state in the same commit, such as a row of an
 * outbox.
 */
export interface TransitionHook {
  name: string;
  on: HookedEvent;
  /**
   * Returns SQL that reads the changed requests from the CTE `changed`, which has at least their id, api_key_id and
   * webhook_url. It has no parameters.
   */
  sql(changed: string): string;
}

const hooks = new Map<string, TransitionHook>();
const built = new Set<HookedEvent>();

/** Registers a hook at the start of a room, because the first change makes the statements final. */
export function registerHook(hook: TransitionHook): void {
  const { name, on } = hook;
  if (hooks.get(name) === hook) return;
  if (built.has(on)) throw new Error(`The hook ${name} is registered too late: its statements are made.`);
  if (hooks.has(name)) throw new Error(`There is already a hook ${name}.`);
  hooks.set(name, hook);
}

const hooksOn = (on: HookedEvent): TransitionHook[] => [...hooks.values()].filter((hook) => hook.on === on);

/** False: no hook reads what the statement returns for hooks. */
export const isHooked = (on: HookedEvent): boolean => hooksOn(on).length > 0;

/** Returns the common table expressions of the hooks, which follow `changed`. */
export const hookTexts = (on: HookedEvent, changed: string) => (): string => {
  built.add(on);
  const texts = hooksOn(on).map(({ name, sql }) => `, ${name} AS (\n  ${sql(changed)}\n)`);
  return texts.join('');
};
