import { Link } from 'wouter';
import type { AdminModel, Overview } from '../api/types';
import { counted } from '../format/quantities';
import { Time } from '../parts/time';

/** The service's text for this reason. */
const noScheduler = 'No node runs requests.';

/** Shows what is wrong, since when, the effect on waiting requests, and what to do. */
export function Trouble({ model }: { model: AdminModel }) {
  const { availability, waiting, paused, nodes } = model;
  const wait =
    waiting === 0
      ? 'No request waits'
      : `${counted(waiting, 'request')} wait${waiting === 1 ? 's' : ''}, none is lost`;
  if (paused.current !== false) {
    return (
      <p className="trouble paused">
        Paused{paused.overridden_by !== null && ` by ${paused.overridden_by}`}
        {paused.overridden_at !== null && (
          <>
            {' '}
            since <Time at={paused.overridden_at} />
          </>
        )}
        : no request starts.{' '}
        {paused.current === 'hold' ? 'New requests are accepted and wait.' : 'New requests are refused.'}{' '}
        {wait}.
      </p>
    );
  }
  if (availability === 'unavailable' && model.kind === 'worker') {
    return (
      <p className="trouble">
        No worker available
        {model.unavailable_since !== null && (
          <>
            {' '}
            since <Time at={model.unavailable_since} />
          </>
        )}
        : start one. {wait}.
      </p>
    );
  }
  if (availability === 'unavailable' && model.unavailable_reason === noScheduler) {
    // The page reports it once for all models.
    if (waiting === 0) return null;
    return <p className="trouble">No node runs requests. {wait}.</p>;
  }
  if (availability === 'unavailable') {
    return (
      <p className="trouble">
        Unreachable
        {model.unavailable_since !== null && (
          <>
            {' '}
            since <Time at={model.unavailable_since} />
          </>
        )}
        {model.unavailable_reason ? `: ${model.unavailable_reason.replace(/\.$/, '')}` : ''}. {wait}. Runs
        begin again when the model answers. Check that it runs at that address, or pause it to refuse new
        requests.
      </p>
    );
  }
  if (isFailing(model)) return <Failing model={model} />;
  const open = nodes.filter(({ circuit }) => circuit !== 'closed');
  if (open.length > 0) {
    return (
      <p className="trouble">
        {open.map(({ name }) => name).join(', ')} cannot reach the model. The other nodes run its requests.
      </p>
    );
  }
  const addresses = new Set(
    nodes.flatMap(({ addresses_away }) => addresses_away.map(({ address }) => address)),
  );
  if (addresses.size > 0) {
    return (
      <p className="trouble">
        {[...addresses].join(', ')} cannot be reached. The model's other addresses run its requests.
      </p>
    );
  }
  return null;
}

/** Failures of fewer runs are not significant. */
const fewRuns = 5;

/** Returns whether all of the model's recent runs failed. */
export const isFailing = ({ recent_runs: runs }: AdminModel): boolean =>
  runs !== null && runs.runs >= fewRuns && runs.failed === runs.runs;

function Failing({ model: { id, recent_runs: recent } }: { model: AdminModel }) {
  const { runs, refused, code, message, last_at } = recent!;
  const said = message === null ? '' : ` (${message.replace(/\.$/, '')})`;
  const failed = (
    <Link href={`/requests?model_id=${encodeURIComponent(id)}&outcome=failed`}>failed requests</Link>
  );
  if (refused === runs) {
    return (
      <p className="trouble paused">
        The model refused the input of all of its last {runs} runs{said}, the last at <Time at={last_at} />.
        Check the inputs of the {failed}.
      </p>
    );
  }
  return (
    <p className="trouble">
      All of its last {runs} runs failed: {code ?? 'no code'}
      {said}, the last at <Time at={last_at} />. New requests still run: pause the model to hold them while
      you look at the {failed}.
    </p>
  );
}

interface NoSchedulerProps {
  nodes: Overview['nodes'];
  models: readonly AdminModel[];
}

/** Shown when no node starts requests. Workers still run theirs. */
export function NoScheduler({ nodes, models }: NoSchedulerProps) {
  const waiting = models.reduce((sum, model) => sum + (model.kind === 'worker' ? 0 : model.waiting), 0);
  const resting = nodes.filter(({ role, state }) => role !== 'api' && state === 'draining');
  return (
    <p className="notice bad" role="status">
      <span>
        <b>
          No node runs requests
          {waiting > 0 && `: ${counted(waiting, 'request')} wait${waiting === 1 ? 's' : ''}, none is lost`}.
        </b>{' '}
        {resting.length > 0 ? (
          <>
            {resting.map(({ name }) => name).join(', ')} {resting.length === 1 ? 'drains' : 'drain'}: end a
            drain under <Link href="/nodes">Nodes</Link>, or start
          </>
        ) : (
          'Start'
        )}{' '}
        a process of the service with <code>ROLE=all</code> or <code>ROLE=scheduler</code>.
      </span>
    </p>
  );
}
