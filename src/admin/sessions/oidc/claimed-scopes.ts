import type { Scope, ScopeMap } from '../../../config/scopes.js';

type Claims = Readonly<Record<string, unknown>>;

/** Returns the scopes that a claim grants, of several values all; undefined: the claims do not have it. */
export function claimedScopes(claims: Claims, name: string, map: ScopeMap): Scope[] | undefined {
  const claim = valueOf(claims, name);
  if (claim === undefined) return undefined;
  const values = Array.isArray(claim) ? claim : [claim];
  return [...new Set(values.flatMap((value) => map.get(String(value)) ?? []))];
}

/**
 * A claim with exactly this name, such as `https://example.org/groups`, comes before a path such as
 * `realm_access.roles`.
 */
function valueOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/** Returns the name of a person for lists and the audit. */
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
