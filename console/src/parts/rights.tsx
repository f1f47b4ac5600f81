import { type ButtonHTMLAttributes, createContext, useContext } from 'react';
import { type Trouble, useOutage } from '../api/live';
import type { Scope, SignedIn } from '../api/types';

export const CurrentSession = createContext<SignedIn | undefined>(undefined);

export function may(session: SignedIn | undefined, scope: Scope): boolean {
  const scopes = session?.scopes ?? [];
  return (
    scopes.includes('admin') || scopes.includes(scope) || (scope === 'observe' && scopes.includes('payloads'))
  );
}

export const useMay = (scope: Scope): boolean => may(useContext(CurrentSession), scope);

/** A button. It is disabled, with a reason, if the key lacks the scope or during an outage. */
export function ActButton({
  needs = 'admin',
  ...button
}: ButtonHTMLAttributes<HTMLButtonElement> & { needs?: Scope }) {
  const isAllowed = useMay(needs);
  const outage = useOutage();
  const reason = isAllowed ? outage && unreachable[outage.what] : `Your key lacks the scope “${needs}”.`;
  return (
    <button
      type="button"
      {...button}
      disabled={reason !== undefined || button.disabled}
      title={reason ?? button.title}
    />
  );
}

const unreachable: Record<Trouble['what'], string> = {
  service: 'The service does not answer. Changes are not possible now.',
  database: 'The service cannot reach its database. Changes are not possible now.',
  figures: '',
};
