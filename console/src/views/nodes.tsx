import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { drainNode, listNodes } from '../api/calls';
import type { AdminNode } from '../api/types';
import { counted, runsGoOn, whole } from '../format/quantities';
import { ConfirmedAction } from '../parts/confirmed-action';
import { AsCurl } from '../parts/curl';
import { Reach } from '../parts/reach';
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
  const client = useQueryClient();
  const reread = () => client.invalidateQueries({ queryKey: ['nodes'] });
  const undraining = useMutation({ mutationFn: () => drainNode(node.id, false, {}), onSuccess: reread });
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
                disabled={undraining.isPending}
                onClick={() => undraining.mutate()}
              >
                End drain
              </ActButton>
            ) : (
              <ConfirmedAction
                label="Drain…"
                title={`Drain ${name}?`}
                verb={`Drain ${name}`}
                back="Leave it running"
                act={(reason) => drainNode(node.id, true, reason)}
                onDone={reread}
              >
                The node starts no more requests, and other nodes get its slots. {runsGoOn(running)} Then you
                can stop it without losing a run.
              </ConfirmedAction>
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
      {undraining.error !== null && <Failure error={undraining.error} />}
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
    </section>
  );
}
