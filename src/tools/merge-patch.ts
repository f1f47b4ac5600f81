type Members = Record<string, unknown>;

/** Merges a patch over a JSON value (JSON Merge Patch, RFC 7396). Neither is changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else if (value !== undefined) members.set(name, mergePatch(members.get(name), value));
  }
  return Object.fromEntries(members);
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
