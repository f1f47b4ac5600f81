/** What a key gets unless it is said. */
export const callerScopes = ['submit', 'read', 'cancel'] as const;
export const scopes = [...callerScopes, 'work', 'observe', 'payloads', 'admin'] as const;

/**
 * What a key allows. Of its own requests: sending them; status, stream and response; cancelling. Of all keys' requests:
 * running those of its models, as a worker; seeing everything but payloads; payloads as well; everything, and changing
 * things.
 */
export type Scope = (typeof scopes)[number];

/** What the values of a claim bring, by value. */
export type ScopeMap = ReadonlyMap<string, readonly Scope[]>;

/** `ops=admin; support=observe,payloads`: values of a claim, and the scopes that each brings. */
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

const expected = `expected values of the claim and what they bring, such as ops=admin; support=observe,payloads (of ${scopes.join(', ')})`;
