import { objectOf, rawMembers } from './json-scanner.js';

/**
 * Merges a patch over a JSON text (JSON Merge Patch, RFC 7396). What the patch does not name stays as it was written,
 * because numbers could change.
 */
export function mergePatch(target: string, patch: unknown): string {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return JSON.stringify(patch);
  const members = target.trimStart().startsWith('{') ? rawMembers(target) : new Map<string, string>();
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else if (value !== undefined) members.set(name, mergePatch(members.get(name) ?? '', value));
  }
  return objectOf(members);
}
