import type { Scope, ScopeMap } from '../../config/scopes.js';

type Claims = Readonly<Record<string, unknown>>;

/** What somebody may, by a claim; undefined: it is not among these claims. Of several values all count. */
export function claimedScopes(claims: Claims, name: string, map: ScopeMap): Scope[] | undefined {
  const claim = valueOf(claims, name);
  if (claim === undefined) return undefined;
  const values = Array.isArray(claim) ? claim : [claim];
  return [...new Set(values.flatMap((value) => map.get(String(value)) ?? []))];
}

/** A name of its own, such as `https://example.org/groups`, before a path such as `realm_access.roles`. */
function valueOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/** How a person is called in lists and in the audit. */
export function claimedName(claims: Claims): string {
  const texts = [claims['preferred_username'], claims['email'], claims['name'], claims['sub']];
  const names = texts.map((text) => (typeof text === 'string' ? text.replaceAll(/\p{C}/gu, '').trim() : ''));
  return (
    names
      .find((name) => name !== '')
      ?.slice(0, 100)
      .toWellFormed() ?? 'unnamed'
  );
}
