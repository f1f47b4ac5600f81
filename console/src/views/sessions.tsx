import { useQueryClient } from '@tanstack/react-query';
import { endSession, listSessions } from '../api/calls';
import type { AdminSession } from '../api/types';
import { ConfirmedAction } from '../parts/confirmed-action';
import { AsCurl } from '../parts/curl';
import { Listed, useList } from '../parts/pages';
import { SignOut } from '../parts/sign-out';
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
                {
                  title: '',
                  className: 'tight',
                  cell: (session) => (session.is_current ? <SignOut /> : <End session={session} />),
                },
              ]}
            />
          )}
        </Listed>
      </section>
    </main>
  );
}

function End({ session: { id, name } }: { session: AdminSession }) {
  const client = useQueryClient();
  return (
    <ConfirmedAction
      label="End…"
      title={`End the session of ${name ?? 'a key without a name'}?`}
      verb="End this session"
      isDanger
      act={(reason) => endSession(id, reason)}
      onDone={() => client.invalidateQueries({ queryKey: ['sessions'] })}
    >
      The browser is signed out at once. The key can sign in again.
    </ConfirmedAction>
  );
}
