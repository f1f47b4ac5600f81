import type { ApiKey } from '../api-key.entity.js';
import { keyState } from './key-table.js';

/** A mistake of the person at the terminal: its message is all there is to say. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** The one key that is meant by an id, a prefix or a name. Revoked ones count only if nothing else fits. */
export function selectKey(keys: readonly ApiKey[], text: string, now: Date): ApiKey {
  const byId = keys.find(({ id }) => id === text.toLowerCase());
  if (byId !== undefined) return byId;
  const fitting = keys.filter(({ prefix, name }) => prefix === text || name === text);
  const valid = fitting.filter((key) => keyState(key, now) !== 'revoked');
  const candidates = valid.length > 0 ? valid : fitting;
  if (candidates.length === 1) return candidates[0]!;
  if (candidates.length === 0) {
    throw new CommandError(
      `There is no key with the id, prefix or name "${text}". To see them all: npm run keys -- list`,
    );
  }
  const lines = candidates.map((key) => `  ${key.id}  ${key.prefix}  ${key.name}  (${keyState(key, now)})`);
  throw new CommandError(
    `"${text}" fits ${candidates.length} keys. Revoke one by its id:\n${lines.join('\n')}`,
  );
}
