/** The default scopes of a key. */
export const callerScopes = ['submit', 'read', 'cancel'] as const;
export const scopes = [...callerScopes, 'work', 'observe', 'payloads', 'admin'] as const;

/**
 * A scope of a key. On its own requests: `submit`; `read` (status, stream and response); `cancel`.
 * On all keys' requests: `work` (run those of its models, as a worker); `observe` (read everything except payloads);
 * `payloads` (read payloads too); `admin` (read and change everything).
 */
export type Scope = (typeof scopes)[number];

/** The scopes of each value of a claim. */
export type ScopeMap = ReadonlyMap<string, readonly Scope[]>;

/** Parses `ops=admin; support=observe,payloads`: values of a claim with their scopes. */
export function parseScopeMap(text: string): ScopeMap {
  const entries = text
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part): [string, Scope[]] => {
      const at = part.lastIndexOf('=');
      const names = part.slice(at + 1).split(',');
      const found = names.map((name) => scopes.find((scope) => scope === name.trim()));
      if (at < 1 || found.includes(undefined)) throw new Error(expected);
      return [part.slice(0, at).trim(), found as Scope[]];
    });
  if (entries.length === 0) throw new Error(expected);
  return new Map(entries);
}

const expected = `expected values of the claim and the scopes that they grant, such as ops=admin; support=observe,payloads (of ${scopes.join(', ')})`;
