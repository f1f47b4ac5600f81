import { type ButtonHTMLAttributes, createContext, useContext } from 'react';
import type { Scope, SignedIn } from '../api/types';

export const CurrentSession = createContext<SignedIn | undefined>(undefined);

export function may(session: SignedIn | undefined, scope: Scope): boolean {
  const scopes = session?.scopes ?? [];
  return (
    scopes.includes('admin') || scopes.includes(scope) || (scope === 'observe' && scopes.includes('payloads'))
  );
}

export const useMay = (scope: Scope): boolean => may(useContext(CurrentSession), scope);

/** A button that does nothing, and says why, for those without the scope. */
export function ActButton({
  needs = 'admin',
  ...button
}: ButtonHTMLAttributes<HTMLButtonElement> & { needs?: Scope }) {
  const isAllowed = useMay(needs);
  return (
    <button
      type="button"
      {...button}
      disabled={!isAllowed || button.disabled}
      title={isAllowed ? button.title : `Your key has no scope “${needs}”, which this needs.`}
    />
  );
}
