import { useMutation, useQueryClient } from '@tanstack/react-query';
import { endSession, listSessions } from '../api/calls';
import type { AdminSession } from '../api/types';
import { AsCurl } from '../parts/curl';
import { Listed, useList } from '../parts/pages';
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
              empty="Nobody is signed in."
              columns={[
                {
                  title: 'Who',
                  cell: ({ name, is_current }) => (
                    <>
                      {name} {is_current && <span className="chip">this one</span>}
                    </>
                  ),
                },
                {
                  title: 'From',
                  cell: ({ address, user_agent }) => (
                    <>
                      {address} <span className="small muted">{user_agent}</span>
                    </>
                  ),
                },
                { title: 'Since', className: 'tight', cell: ({ created_at }) => <Time at={created_at} /> },
                { title: 'Ends', className: 'tight', cell: ({ expires_at }) => <Time at={expires_at} /> },
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
  const ending = useMutation({
    mutationFn: () => endSession(session.id),
    onSuccess: () => client.invalidateQueries({ queryKey: [session.is_current ? 'session' : 'sessions'] }),
  });
  return (
    <>
      <ActButton disabled={ending.isPending} onClick={() => ending.mutate()}>
        {session.is_current ? 'Sign out' : 'End it'}
      </ActButton>
      {ending.error !== null && <Failure error={ending.error} />}
    </>
  );
}
