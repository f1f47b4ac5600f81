import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { DomainError } from '../errors/domain-error.js';
import { ModelEntity } from './model.entity.js';
import type { Pause } from './model.js';

/** The settings of operators for a model, with their times and authors. */
export type Overrides = Pick<
  ModelEntity,
  | 'concurrencyOverride'
  | 'concurrencyOverriddenAt'
  | 'concurrencyOverriddenBy'
  | 'paused'
  | 'pausedAt'
  | 'pausedBy'
>;

/** undefined: it stays as it is; null: the value of the file applies. */
export interface OverrideChange {
  concurrency?: number | null | undefined;
  paused?: Pause | null | undefined;
}

export const noOverrides: Overrides = Object.freeze({
  concurrencyOverride: null,
  concurrencyOverriddenAt: null,
  concurrencyOverriddenBy: null,
  paused: null,
  pausedAt: null,
  pausedBy: null,
});

/** Returns a text that differs for other overrides, in the form of an ETag. */
export function versionOf(id: string, overrides: Overrides): string {
  const { concurrencyOverride, concurrencyOverriddenAt, paused, pausedAt } = overrides;
  const parts = [id, concurrencyOverride, concurrencyOverriddenAt, paused, pausedAt];
  return `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)}"`;
}

/**
 * Changes the overrides, and returns them before and after. `isExpected`: whether the caller knows the current version.
 * Throws `changed_meanwhile` if not.
 */
export async function changeOverrides(
  manager: EntityManager,
  id: string,
  { concurrency, paused }: OverrideChange,
  { at, by }: { at: Date; by: string },
  isExpected: (version: string) => boolean,
): Promise<{ before: Overrides; after: Overrides }> {
  const table = manager.getRepository(ModelEntity);
  // Waits for a division of its slots that is under way. The next division sees the change.
  const before = await table.findOneOrFail({ where: { id }, lock: { mode: 'pessimistic_write' } });
  if (!isExpected(versionOf(id, before)))
    throw new DomainError('changed_meanwhile', `The model ${id} has changed in the meantime. Read it again.`);
  const changed: Partial<ModelEntity> = {};
  if (concurrency !== undefined && concurrency !== before.concurrencyOverride) {
    const [from, to] = [before.concurrencyOverride ?? before.concurrency, concurrency ?? before.concurrency];
    Object.assign(changed, {
      concurrencyOverride: concurrency,
      concurrencyOverriddenAt: concurrency === null ? null : at,
      concurrencyOverriddenBy: concurrency === null ? null : by,
      ...((to ?? Infinity) < (from ?? Infinity) && { slotRound: before.slotRound + 1 }),
    });
  }
  if (paused !== undefined && paused !== before.paused) {
    const isPaused = paused !== null;
    Object.assign(changed, { paused, pausedAt: isPaused ? at : null, pausedBy: isPaused ? by : null });
  }
  if (Object.keys(changed).length > 0) await table.update(id, changed);
  return { before, after: Object.assign(new ModelEntity(), before, changed) };
}
