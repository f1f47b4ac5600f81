import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { drainNode, listNodes } from '../api/calls';
import type { AdminNode } from '../api/types';
import { counted, runsGoOn, whole } from '../format/quantities';
import { AsCurl } from '../parts/curl';
import { Dialog } from '../parts/dialog';
import { Reach } from '../parts/reach';
import { ReasonField, reasonIn } from '../parts/reason-field';
import { ActButton } from '../parts/rights';
import { Failure, Loaded } from '../parts/states';
import { type Column, Table } from '../parts/table';
import { nodeWord } from '../parts/node-state';
import { Ago, Since, Time } from '../parts/time';
import { LostNode } from './lost-node';
import { Failed, type OfModel, RunTime, Slow } from './node-speed';
import { Slots } from './plate';
import { Workers } from './workers';

export default function Nodes() {
  const nodes = useQuery({
    queryKey: ['nodes'],
    queryFn: ({ signal }) => listNodes(signal),
    refetchInterval: 3_000,
  });
  return (
    <main className="page">
      <div className="head">
        <h1>Nodes</h1>
        <span className="end">
          <AsCurl calls={[{ path: 'v1/admin/nodes' }]} />
        </span>
      </div>
      <Loaded query={nodes} rows={6}>
        {({ data }) => (
          <>
            <Slow nodes={data} />
            {data.map((node) =>
              node.lost_at === null ? (
                <NodeCard key={node.id} node={node} all={data} />
              ) : (
                <LostNode key={node.id} node={node} />
              ),
            )}
          </>
        )}
      </Loaded>
      <Workers />
    </main>
  );
}

const restUntil: Column<OfModel> = {
  title: 'Resting until',
  className: 'tight',
  cell: ({ resting_until }) => resting_until !== null && <Time at={resting_until} />,
};

const roles: Record<string, string> = {
  all: 'serves calls and runs requests',
  api: 'serves calls only',
  scheduler: 'runs requests',
};

function NodeCard({ node, all }: { node: AdminNode; all: readonly AdminNode[] }) {
  const { name, role, state, version, started_at, heartbeat_at, draining_since, running, slots, models } =
    node;
  const resting = models.find(({ resting_until }) => resting_until !== null)?.resting_until;
  const [isAsked, setAsked] = useState(false);
  const [reason, setReason] = useState('');
  const client = useQueryClient();
  const draining = useMutation({
    mutationFn: (drain: boolean) => drainNode(node.id, drain, drain ? reasonIn(reason) : {}),
    onSuccess: () => {
      setAsked(false);
      return client.invalidateQueries({ queryKey: ['nodes'] });
    },
  });
  return (
    <section className="card stack" aria-label={`Node ${name}`}>
      <div className="row">
        <h2>{name}</h2>
        <span className={state === 'ready' ? 'chip' : 'chip warn'}>{nodeWord(state)}</span>
        <span className="muted">{roles[role] ?? role}</span>
        <span className="end">
          {role !== 'api' &&
            state !== 'stopping' &&
            (state === 'draining' ? (
              <ActButton
                className="primary"
                disabled={draining.isPending}
                onClick={() => draining.mutate(false)}
              >
                End drain
              </ActButton>
            ) : (
              <ActButton onClick={() => setAsked(true)}>Drain…</ActButton>
            ))}
        </span>
      </div>
      {(state === 'fenced' || state === 'lost') && (
        <p className="trouble">
          No heartbeat since <Time at={heartbeat_at} />. The node has stopped its runs, and other nodes take
          them.
          {resting !== undefined && (
            <>
              {' '}
              Its slots rest until <Time at={resting} />, so that no request runs twice at once.
            </>
          )}
        </p>
      )}
      {state === 'stopping' && (
        <p className="trouble paused">
          The process is stopping. It starts no more requests, and other nodes get its idle slots.{' '}
          {counted(running, 'run')} left.
        </p>
      )}
      {draining_since !== null && state !== 'stopping' && (
        <p className="trouble paused">
          Draining since <Time at={draining_since} />: it starts no more requests. {counted(running, 'run')}{' '}
          left.
        </p>
      )}
      {draining.error !== null && <Failure error={draining.error} />}
      <dl className="figures">
        <div>
          <dt>of {counted(slots, 'slot')} running</dt>
          <dd className="big">{whole(running)}</dd>
        </div>
        <div>
          <dt>last heartbeat</dt>
          <dd>
            <Ago at={heartbeat_at} />
          </dd>
        </div>
        <div>
          <dt>uptime</dt>
          <dd>
            <Since at={started_at} />
          </dd>
        </div>
        <div>
          <dt>version</dt>
          <dd>{version}</dd>
        </div>
      </dl>
      {models.length > 0 && (
        <Table
          label={`Slots of ${name}`}
          rows={models}
          rowKey={({ model_id }) => model_id}
          columns={[
            {
              title: 'Model',
              className: 'half',
              cell: ({ model_id }) => (
                <Link data-row="" href={`/models/${model_id}`}>
                  {model_id}
                </Link>
              ),
            },
            {
              title: 'Slots',
              className: 'tight',
              cell: (model) => (
                <>
                  <Slots running={model.running} slots={model.slots} />
                  {model.running} of {model.slots}
                </>
              ),
            },
            {
              title: 'Run time, median · p95',
              className: 'tight',
              cell: (model) => <RunTime model={model} all={all} />,
            },
            {
              title: 'Failed, last hour',
              className: 'tight number',
              cell: (model) => <Failed node={name} model={model} />,
            },
            ...(resting === undefined ? [] : [restUntil]),
            {
              title: 'Reachable',
              cell: (model) => (
                <>
                  <Reach {...model} /> {model.reason}
                </>
              ),
            },
          ]}
        />
      )}
      {isAsked && (
        <Dialog title={`Drain ${name}?`} onClose={() => setAsked(false)}>
          <p>
            The node starts no more requests, and other nodes get its slots. {runsGoOn(running)} Then you can
            stop it without losing a run.
          </p>
          <ReasonField value={reason} onChange={setReason} />
          <div className="buttons">
            <button type="button" onClick={() => setAsked(false)}>
              Leave it running
            </button>
            <ActButton
              type="button"
              className="primary"
              disabled={draining.isPending}
              onClick={() => draining.mutate(true)}
            >
              Drain {name}
            </ActButton>
          </div>
        </Dialog>
      )}
    </section>
  );
}
