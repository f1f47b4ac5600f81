import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { serviceAddress } from '../api/base';
import { signIn } from '../api/calls';
import type { Session } from '../api/types';
import { Failure } from '../parts/states';

interface SignInProps {
  session: Session | undefined;
  link: string | undefined;
  onLinkDone: () => void;
}

/** Messages for the result of a sign-in at the provider. */
const told: Record<string, string | undefined> = {
  failed: 'The provider could not be reached. Try again, or use a key.',
  refused: 'Sign-in was refused. Your account at the provider has no scopes of this service.',
};

export function SignIn({ session, link, onLinkDone }: SignInProps) {
  const client = useQueryClient();
  const [key, setKey] = useState('');
  const entering = useMutation({
    mutationFn: signIn,
    onSuccess: (entered) => {
      forgetLink();
      onLinkDone();
      // The previous user may have been allowed to see more.
      client.removeQueries({ predicate: ({ queryKey: [kind] }) => kind !== 'session' });
      client.setQueryData(['session'], entered);
    },
  });
  const oidc = session?.oidc;
  const failed = told[window.location.hash.replace('#sign-in=', '')];
  return (
    <main className="sign-in">
      <h1 className="hidden">Sign in</h1>
      <div className="plate">
        <span className="numeral" aria-hidden="true">
          00
        </span>
        <small>Now Serving</small>
      </div>
      <div className="card">
        {link === undefined ? (
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              entering.mutate({ key: key.trim() });
            }}
          >
            <label className="field">
              <span>API key</span>
              <input
                type="password"
                name="key"
                autoComplete="current-password"
                placeholder="ns_…"
                required
                value={key}
                onChange={({ target }) => setKey(target.value)}
              />
            </label>
            <button className="primary" type="submit" disabled={entering.isPending}>
              Sign in
            </button>
            <p className="small muted">
              The scope “observe” shows everything except payloads. “admin” also allows changes. Create a key
              with <code>npm run keys -- create --name NAME --scope admin</code>, or in a container with{' '}
              <code>node dist/src/keys.js create --name NAME --scope admin</code>
            </p>
          </form>
        ) : (
          <div className="stack">
            <p>This link signs you in once.</p>
            <button
              className="primary"
              type="button"
              disabled={entering.isPending}
              onClick={() => entering.mutate({ link })}
            >
              Sign in
            </button>
            <button
              type="button"
              onClick={() => {
                forgetLink();
                onLinkDone();
              }}
            >
              {session?.signed_in ? `Continue as ${session.signed_in.name}` : 'Use a key instead'}
            </button>
          </div>
        )}
        {failed !== undefined && <p className="notice bad">{failed}</p>}
        {entering.error !== null && <Failure error={entering.error} />}
        {oidc && (
          <>
            <p className="or">or</p>
            <a className="button" href={serviceAddress('v1/admin/session/oidc')}>
              Sign in with {oidc.name}
            </a>
          </>
        )}
      </div>
    </main>
  );
}

/** Removes the link from the address, so that it is neither kept in the history nor copied. */
function forgetLink(): void {
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
}
