import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { hashOf } from './key-secret.js';

const name = 'nowserving_session';
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns the token of the session that a call brings. `baseUrl`: the URL that the call was for. */
export function sessionToken({ headers }: IncomingMessage, baseUrl: string): string | undefined {
  return cookieOf(headers.cookie, cookieName(name, baseUrl));
}

/** Returns the field of an answer that sets the cookie, or deletes it. */
export function sessionCookie(token: string | null, baseUrl: string): string {
  const secure = isSecure(baseUrl) ? '; Secure' : '';
  const life = token === null ? '; Max-Age=0' : '';
  return `${cookieName(name, baseUrl)}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict${secure}${life}`;
}

/** Separate from the hashes of keys, so that a token is no key and a key is no token. */
export function sessionHash(token: string): string {
  return hashOf(`session\n${token}`);
}

/**
 * Returns what is wrong with a call that brings a cookie, because a browser may have sent it on behalf of another site.
 * A call that changes something must be JSON, which no form can send, and come from a page of ours.
 */
export function forgeryIn({ method = '', headers }: IncomingMessage, baseUrl: string): string | undefined {
  if (safeMethods.has(method)) return undefined;
  if (!isJson(headers))
    return 'A call that changes something with a session cookie needs the header "Content-Type: application/json".';
  return isOurs(headers, baseUrl)
    ? undefined
    : 'A call that changes something with a session cookie must come from the console.';
}

/** Returns what is wrong with a call that begins a session, because a page of another site may have caused it. */
export function foreignSignIn({ headers }: IncomingMessage, baseUrl: string): string | undefined {
  if (!isJson(headers)) return 'Signing in needs the header "Content-Type: application/json".';
  const { 'sec-fetch-site': site, origin } = headers;
  // Only browsers send these two.
  if (site === undefined && origin === undefined) return undefined;
  return isOurs(headers, baseUrl) ? undefined : 'Signing in must come from the console.';
}

export function cookieOf(field: string | undefined, wanted: string): string | undefined {
  for (const pair of field?.split(';') ?? []) {
    const [key, value] = pair.split('=', 2);
    if (key!.trim() === wanted) return value?.trim();
  }
  return undefined;
}

const isJson = (headers: IncomingHttpHeaders): boolean =>
  /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');

function isOurs({ 'sec-fetch-site': site, origin }: IncomingHttpHeaders, baseUrl: string): boolean {
  return site === undefined ? origin === new URL(baseUrl).origin : site === 'same-origin';
}

/** Browsers keep a cookie with this prefix only for its host, and only under TLS. */
export const cookieName = (base: string, baseUrl: string): string =>
  isSecure(baseUrl) ? `__Host-${base}` : base;
const isSecure = (baseUrl: string): boolean => baseUrl.startsWith('https:');
