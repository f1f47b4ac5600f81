import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { endSession, listSessions } from '../api/calls';
import type { AdminSession } from '../api/types';
import { AsCurl } from '../parts/curl';
import { Dialog } from '../parts/dialog';
import { Listed, useList } from '../parts/pages';
import { ReasonField, reasonIn } from '../parts/reason-field';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';
import { Table } from '../parts/table';
import { Time } from '../parts/time';

export default function Sessions() {
  const sessions = useList(['sessions'], listSessions);
  return (
    <main className="page">
      <div className="head">
        <h1>Sessions</h1>
        <span className="end">
          <AsCurl calls={[{ path: 'v1/admin/sessions' }]} />
        </span>
      </div>
      <section className="card" aria-label="Sessions">
        <Listed list={sessions} bones={4}>
          {(rows) => (
            <Table
              label="Sessions"
              rows={rows}
              rowKey={({ id }) => id}
              empty="No sessions."
              columns={[
                {
                  title: 'Name',
                  cell: ({ name, is_current }) => (
                    <>
                      {name} {is_current && <span className="chip">this one</span>}
                    </>
                  ),
                },
                {
                  title: 'Address',
                  cell: ({ address, user_agent }) => (
                    <>
                      {address} <span className="small muted">{user_agent}</span>
                    </>
                  ),
                },
                {
                  title: 'Signed in',
                  className: 'tight',
                  cell: ({ created_at }) => <Time at={created_at} />,
                },
                { title: 'Expires', className: 'tight', cell: ({ expires_at }) => <Time at={expires_at} /> },
                { title: '', className: 'tight', cell: (session) => <End session={session} /> },
              ]}
            />
          )}
        </Listed>
      </section>
    </main>
  );
}

function End({ session }: { session: AdminSession }) {
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const [reason, setReason] = useState('');
  const ending = useMutation({
    mutationFn: () => endSession(session.id, reasonIn(reason)),
    onSuccess: () => {
      setAsked(false);
      return client.invalidateQueries({ queryKey: [session.is_current ? 'session' : 'sessions'] });
    },
  });
  return (
    <>
      {session.is_current ? (
        <ActButton disabled={ending.isPending} onClick={() => ending.mutate()}>
          Sign out
        </ActButton>
      ) : (
        <ActButton onClick={() => setAsked(true)}>End…</ActButton>
      )}
      {ending.error !== null && <Failure error={ending.error} />}
      {isAsked && (
        <Dialog
          title={`End the session of ${session.name ?? 'a key without a name'}?`}
          onClose={() => setAsked(false)}
        >
          <p>The browser is signed out at once. The key can sign in again.</p>
          <ReasonField value={reason} onChange={setReason} />
          <div className="buttons">
            <button type="button" onClick={() => setAsked(false)}>
              Go back
            </button>
            <ActButton
              type="button"
              className="primary danger"
              disabled={ending.isPending}
              onClick={() => ending.mutate()}
            >
              End this session
            </ActButton>
          </div>
        </Dialog>
      )}
    </>
  );
}
